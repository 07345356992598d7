import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import type * as Secp256k1 from 'secp256k1'
import { Bench } from 'tinybench'
import { mintConsoleToken } from '../scripts/dev/mint-console-token.js'
import { type ConnectedCoSigner, connectCoSigner } from '../src/custody/connect-co-signer.js'
import { deriveProofKey } from '../src/custody/key-proof.js'
import { provisionDev } from '../src/custody/provision.js'
import { type KeyId, type SubWalletId, ulidBody } from '../src/domain/ids.js'
import { cpuMicros, quantileMs } from './figures.js'
import { type Domain, startDomain } from './signing-domain.js'

/**
 * What two keys cost: signatures per second through three real processes, beside the bare rate of
 * the curve library on one core in the same run. Every signature is complete: key proof, grant,
 * durable ledger, both approvals, both shares, verification of the result, serialised transaction.
 */
export interface QuorumFigures {
  /** Native secp256k1 signatures per second on one core, and nothing else. */
  readonly barePerSecond: number
  readonly keygenMs: number
  readonly loads: readonly QuorumLoad[]
}

export interface QuorumLoad {
  readonly label: string
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Per signature. */
  readonly cpuMicros: {
    readonly service: number
    readonly userSide: number
    readonly quorum: number
  }
}

const WARM_UP_MS = 500
const WALLETS = 64
const USER = { email: 'bench@example.test', password: 'correct horse battery staple' }

/** Callers that each wait for one signature: two batches are under way at once. */
const LOADS = [
  { label: 'one caller', callers: 1 },
  { label: 'batch 8', callers: 16 },
  { label: 'batch 32', callers: 64 },
] as const

interface BenchWallet {
  readonly walletId: SubWalletId
  readonly keyId: KeyId
  readonly proofKey: Uint8Array
  nonce: number
}

const native = createRequire(import.meta.url)('secp256k1/bindings.js') as typeof Secp256k1

/** @param runMs how long each load is driven */
export async function measureQuorum(runMs: number): Promise<QuorumFigures> {
  const home = mkdtempSync(join(tmpdir(), 'cs-bench-'))
  const domains: Domain[] = []
  let coSigner: ConnectedCoSigner | null = null
  try {
    writeFileSync(join(home, 'dev-user.json'), JSON.stringify(USER))
    await provisionDev(home)
    const env = { COUNTERSIGN_HOME: home, IDENTITY_PORT: '0' }
    const userSide = await startDomain('dist/src/identity-provider/main.js', env)
    domains.push(userSide)
    const quorum = await startDomain('dist/src/quorum-signer/main.js', env)
    domains.push(quorum)
    coSigner = await connectCoSigner({ home, mode: 'dev', log: pino({ level: 'silent' }) })
    if (!(await coSigner.whenReady(10_000))) throw new Error('the quorum is not ready')
    const startedAt = performance.now()
    const wallets = await makeWallets(coSigner, home)
    const keygenMs = (performance.now() - startedAt) / WALLETS
    const barePerSecond = await measureBare()
    await drive(coSigner, wallets, 64, WARM_UP_MS)
    const loads: QuorumLoad[] = []
    for (const { label, callers } of LOADS) {
      const pids = [process.pid, userSide.pid, quorum.pid]
      const before = pids.map(cpuMicros)
      const { count, elapsedMs, latenciesMs } = await drive(coSigner, wallets, callers, runMs)
      const [service = 0, user = 0, signer = 0] = pids.map(
        (pid, i) => (cpuMicros(pid) - (before[i] ?? 0)) / count,
      )
      loads.push({
        label,
        perSecond: (count / elapsedMs) * 1_000,
        p50Ms: quantileMs(latenciesMs, 0.5),
        p99Ms: quantileMs(latenciesMs, 0.99),
        cpuMicros: { service, userSide: user, quorum: signer },
      })
    }
    return { barePerSecond, keygenMs, loads }
  } finally {
    await coSigner?.close()
    await Promise.all(domains.map((domain) => domain.kill()))
    rmSync(home, { recursive: true, force: true })
  }
}

async function makeWallets(signer: ConnectedCoSigner, home: string): Promise<BenchWallet[]> {
  const issuerFile = readFileSync(join(home, 'identity-provider', 'issuer.json'), 'utf8')
  const { issuer } = JSON.parse(issuerFile) as { issuer: string }
  const consoleToken = await mintConsoleToken({ issuer, ...USER })
  const claims = Buffer.from(consoleToken.split('.')[1] ?? '', 'base64url').toString('utf8')
  const userId = (JSON.parse(claims) as { sub: string }).sub
  const wallets: BenchWallet[] = []
  for (let i = 0; i < WALLETS; i++) {
    const walletId = `sw_${ulidBody(Date.now(), randomBytes(10))}` as SubWalletId
    const keyId = `key_${ulidBody(Date.now(), randomBytes(10))}` as KeyId
    const proofKey = deriveProofKey(`sk_test_${randomBytes(16).toString('hex')}`)
    await signer.createWallet(walletId, userId)
    await signer.putGrant({
      keyId,
      rotatedFrom: null,
      walletId,
      userId,
      permission: 'trade',
      allowedChains: [8453],
      proofKey,
      expiresAt: null,
      revoked: false,
      consoleToken,
      dailyLimitMicros: null,
      monthlyLimitMicros: null,
      unpricedAssets: 'deny',
      effect: 'enlarges',
      authorization: null,
    })
    wallets.push({ walletId, keyId, proofKey, nonce: 0 })
  }
  return wallets
}

async function measureBare(): Promise<number> {
  const digest = randomBytes(32)
  const scalar = randomBytes(32)
  const bench = new Bench({ time: 500, warmupTime: 100 })
  bench.add('sign', () => {
    native.ecdsaSign(digest, scalar)
  })
  const [task] = await bench.run()
  const result = task?.result
  if (result === undefined || !('latency' in result)) throw new Error('bare rate not measured')
  return 1_000 / result.latency.p50
}

async function drive(
  signer: ConnectedCoSigner,
  wallets: readonly BenchWallet[],
  callers: number,
  durationMs: number,
): Promise<{ count: number; elapsedMs: number; latenciesMs: number[] }> {
  const latenciesMs: number[] = []
  const startedAt = performance.now()
  const deadline = startedAt + durationMs
  await Promise.all(
    Array.from({ length: callers }, async (_, index) => {
      const wallet = wallets[index % wallets.length]
      if (wallet === undefined) throw new Error('no wallet')
      while (performance.now() < deadline) {
        const from = performance.now()
        const outcome = await signer.sign({
          walletId: wallet.walletId,
          keyId: wallet.keyId,
          requestId: randomBytes(16),
          proofKey: wallet.proofKey,
          replaces: null,
          payload: {
            type: 'transaction',
            chainId: 8453,
            nonce: wallet.nonce++,
            to: '0x3333333333333333333333333333333333333333',
            value: 1_000n,
            data: '0x',
            gasLimit: 21_000n,
            maxFeePerGas: 2_000_000_000n,
            maxPriorityFeePerGas: 1_000_000_000n,
          },
        })
        if (!outcome.ok) throw new Error(`refused: ${outcome.reason} ${outcome.detail ?? ''}`)
        latenciesMs.push(performance.now() - from)
      }
    }),
  )
  const elapsedMs = performance.now() - startedAt
  return { count: latenciesMs.length, elapsedMs, latenciesMs: latenciesMs.sort((a, b) => a - b) }
}
