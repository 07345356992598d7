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
import { type Domain, startDomain } from './signing-domain.js'

/**
 * What two keys cost: signatures per second through three real processes, beside the bare rate of
 * the curve library on one core in the same run. Every signature is complete: key proof, grant,
 * durable ledger, both approvals, both shares, verification of the result, serialised transaction.
 */
const RUN_MS = 2_000
const WARM_UP_MS = 500
const WALLETS = 64
const USER = { email: 'bench@example.test', password: 'correct horse battery staple' }

interface Load {
  readonly label: string
  /** Callers that each wait for one signature: two batches are under way at once. */
  readonly callers: number
}

const LOADS: readonly Load[] = [
  { label: 'one caller', callers: 1 },
  { label: 'batch 8', callers: 16 },
  { label: 'batch 32', callers: 64 },
]

interface BenchWallet {
  readonly walletId: SubWalletId
  readonly keyId: KeyId
  readonly proofKey: Uint8Array
  nonce: number
}

const native = createRequire(import.meta.url)('secp256k1/bindings.js') as typeof Secp256k1
const home = mkdtempSync(join(tmpdir(), 'cs-bench-'))
const domains: Domain[] = []
let coSigner: ConnectedCoSigner | null = null

try {
  writeFileSync(join(home, 'dev-user.json'), JSON.stringify(USER))
  await provisionDev(home)
  const env = { COUNTERSIGN_HOME: home, IDENTITY_PORT: '0' }
  const userSide = await startDomain('dist/src/identity-provider/main.js', env)
  domains.push(userSide)
  const quorumSigner = await startDomain('dist/src/quorum-signer/main.js', env)
  domains.push(quorumSigner)
  coSigner = connectCoSigner({ home, mode: 'dev', log: pino({ level: 'silent' }) })
  if (!(await coSigner.whenReady(10_000))) throw new Error('the quorum is not ready')
  const wallets = await makeWallets(coSigner)

  const bareRate = await measureBare()
  console.log(`bare native secp256k1 sign, one core   ${format(bareRate)}/s`)
  await drive(coSigner, wallets, 64, WARM_UP_MS)
  for (const load of LOADS) {
    const before = cpuOf(userSide.pid, quorumSigner.pid)
    const { count, elapsedMs, latenciesMs } = await drive(coSigner, wallets, load.callers, RUN_MS)
    const after = cpuOf(userSide.pid, quorumSigner.pid)
    const rate = (count / elapsedMs) * 1_000
    const perSignature = after.map((ms, i) =>
      (((ms - (before[i] ?? 0)) / count) * 1_000).toFixed(0),
    )
    console.log(
      `${load.label.padEnd(12)} ${format(rate).padStart(6)}/s   ${(rate / bareRate).toFixed(2)} of bare   ` +
        `p50 ${quantile(latenciesMs, 0.5)} ms   p99 ${quantile(latenciesMs, 0.99)} ms   ` +
        `CPU µs per signature: service ${perSignature[0]}, user side ${perSignature[1]}, quorum ${perSignature[2]}`,
    )
  }
} finally {
  await coSigner?.close()
  await Promise.all(domains.map((domain) => domain.kill()))
  rmSync(home, { recursive: true, force: true })
}

async function makeWallets(signer: ConnectedCoSigner): Promise<BenchWallet[]> {
  const issuerFile = readFileSync(join(home, 'identity-provider', 'issuer.json'), 'utf8')
  const { issuer } = JSON.parse(issuerFile) as { issuer: string }
  const consoleToken = await mintConsoleToken({ issuer, ...USER })
  const claims = Buffer.from(consoleToken.split('.')[1] ?? '', 'base64url').toString('utf8')
  const userId = (JSON.parse(claims) as { sub: string }).sub
  const wallets: BenchWallet[] = []
  const startedAt = performance.now()
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
    })
    wallets.push({ walletId, keyId, proofKey, nonce: 0 })
  }
  const perWalletMs = (performance.now() - startedAt) / WALLETS
  console.log(`key generation and grant               ${perWalletMs.toFixed(1)} ms per wallet`)
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

/** CPU milliseconds so far of this process and two others (proc(5): clock ticks of 10 ms). */
function cpuOf(...pids: number[]): number[] {
  const own = process.cpuUsage()
  const others = pids.map((pid) => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) * 10
  })
  return [(own.user + own.system) / 1_000, ...others]
}

function quantile(sorted: readonly number[], q: number): string {
  return (sorted[Math.floor((sorted.length - 1) * q)] ?? 0).toFixed(2)
}

function format(rate: number): string {
  return Math.round(rate).toLocaleString('en')
}
