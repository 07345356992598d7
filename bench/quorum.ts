import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pino } from 'pino'
import type * as Secp256k1 from 'secp256k1'
import { Bench } from 'tinybench'
import { mintConsoleToken } from '../scripts/dev/mint-console-token.js'
import { systemTimers } from '../src/clock/timers.js'
import { provisionDev } from '../src/custody-tools/provisioning/provision.js'
import { grantedOf } from '../src/domain/grant-terms.js'
import { type KeyId, type SubWalletId, ulidBody } from '../src/domain/ids.js'
import { INITIAL_POLICY } from '../src/domain/key-policy.js'
import {
  type ConnectedCoSigner,
  connectCoSigner,
} from '../src/service-custody/connect-co-signer.js'
import { deriveProofKey } from '../src/service-custody/key-proof.js'
import { lastServiceBoot } from '../src/service-custody/service-boot-file.js'
import { type Child, startChild } from './child-process.js'
import { type CpuSpent, perOperation, startCpuMeter } from './cpu.js'
import { type Latencies, latenciesOf } from './figures.js'
import { medianOfRounds } from './rounds.js'
import { issuerOf } from './sink-stack.js'
import { makeDirectory } from './temporary.js'

/**
 * The cost of two keys: signatures per second through three real processes, beside the bare rate of
 * the curve library on one core in the same run. Every signature is complete: key proof, grant,
 * durable ledger, both approvals, both shares, verification of the result, serialized transaction.
 */
export interface QuorumLoad extends Latencies {
  readonly label: string
  readonly perSecond: number
  /** Native secp256k1 signatures per second, with nothing else, on one core. */
  readonly barePerSecond: number
  readonly vsBare: number
  /** CPU per signature; the service is this process. */
  readonly cpuMicros: Readonly<Record<'service' | 'identity' | 'quorum', CpuSpent>>
}

/** The two other domains, and wallets to sign for. */
export interface Quorum {
  readonly keygenMs: number
  measure(load: (typeof QUORUM_LOADS)[number], runMs: number): Promise<QuorumLoad>
  /** Signatures per second at full load, for comparison with another figure. */
  rateNow(runMs: number): Promise<number>
  close(): Promise<void>
}

/**
 * The bare rate is measured before and after each slice, and the median of slices counts, because a
 * core of a shared machine changes its speed by half within seconds.
 */
const SLICE_MS = 1_000
/** Before each load, because its batches differ in size from those before. */
const EACH_WARM_UP_MS = 1_500
/** Its code is warm; only caches and connections have been idle. */
const RATE_WARM_UP_MS = 300
const WALLETS = 64
const USER = { email: 'bench@example.test', password: 'correct horse battery staple' }

export const QUORUM_FULL = { label: 'batch 32', callers: 256 } as const
/** Callers that each wait for one signature: two batches under way, or eight full ones. */
export const QUORUM_LOADS = [
  { label: 'one caller', callers: 1 },
  { label: 'batch 8', callers: 16 },
  QUORUM_FULL,
] as const

interface BenchWallet {
  readonly walletId: SubWalletId
  readonly keyId: KeyId
  readonly proofKey: Uint8Array
  nonce: number
}

const native = createRequire(import.meta.url)('secp256k1/bindings.js') as typeof Secp256k1

/**
 * @param warmUpMs time under full load: V8 compiles for some seconds, in threads that compete with
 * the measured ones
 * @throws Error if a domain does not start; nothing is left running
 */
export async function openQuorum(warmUpMs: number): Promise<Quorum> {
  const directory = makeDirectory()
  const home = directory.path
  const domains: Child[] = []
  let coSigner: ConnectedCoSigner | null = null
  const close = async () => {
    await coSigner?.close()
    await Promise.all(domains.map((domain) => domain.stop()))
    directory.remove()
  }
  try {
    writeFileSync(join(home, 'dev-user.json'), JSON.stringify(USER), { mode: 0o600 })
    await provisionDev(home)
    const env = { COUNTERSIGN_HOME: home, IDENTITY_PORT: '0' }
    const identity = await startChild('dist/src/identity-provider/main.js', env)
    domains.push(identity)
    const quorum = await startChild('dist/src/quorum-signer/main.js', env)
    domains.push(quorum)
    const signer = await connectCoSigner({
      home,
      mode: 'dev',
      boot: lastServiceBoot(home, systemTimers()),
      timers: systemTimers(),
      log: pino({ level: 'silent' }),
    })
    coSigner = signer
    if (!(await signer.whenReady(10_000))) throw new Error('the quorum is not ready')
    const startedAt = performance.now()
    const wallets = await makeWallets(signer, home)
    const keygenMs = (performance.now() - startedAt) / WALLETS
    await drive(signer, wallets, QUORUM_FULL.callers, warmUpMs)
    const pids = { service: process.pid, identity: identity.pid, quorum: quorum.pid }
    return {
      keygenMs,
      async measure({ label, callers }, runMs) {
        await drive(signer, wallets, callers, EACH_WARM_UP_MS)
        const slices = Math.max(1, Math.round(runMs / SLICE_MS))
        const measured: QuorumLoad[] = []
        let bareBefore = await measureBare()
        while (measured.length < slices) {
          const meter = startCpuMeter(pids)
          const { count, elapsedMs, latenciesMs } = await drive(
            signer,
            wallets,
            callers,
            runMs / slices,
          )
          const spent = meter()
          const bareAfter = await measureBare()
          const perSecond = (count / elapsedMs) * 1_000
          const barePerSecond = (bareBefore + bareAfter) / 2
          measured.push({
            label,
            perSecond,
            barePerSecond,
            vsBare: perSecond / barePerSecond,
            ...latenciesOf(latenciesMs),
            cpuMicros: {
              service: perOperation(spent.service, count),
              identity: perOperation(spent.identity, count),
              quorum: perOperation(spent.quorum, count),
            },
          })
          bareBefore = bareAfter
        }
        return medianOfRounds(measured)
      },
      async rateNow(runMs) {
        await drive(signer, wallets, QUORUM_FULL.callers, RATE_WARM_UP_MS)
        const { count, elapsedMs } = await drive(signer, wallets, QUORUM_FULL.callers, runMs)
        return (count / elapsedMs) * 1_000
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function makeWallets(signer: ConnectedCoSigner, home: string): Promise<BenchWallet[]> {
  const consoleToken = await mintConsoleToken({ issuer: issuerOf(home), ...USER })
  const claims = Buffer.from(consoleToken.split('.')[1] ?? '', 'base64url').toString('utf8')
  const userId = (JSON.parse(claims) as { sub: string }).sub
  const wallets: BenchWallet[] = []
  for (let i = 0; i < WALLETS; i++) {
    const walletId = `sw_${ulidBody(Date.now(), randomBytes(10))}` as SubWalletId
    const keyId = `key_${ulidBody(Date.now(), randomBytes(10))}` as KeyId
    const proofKey = deriveProofKey(`sk_test_${randomBytes(16).toString('hex')}`)
    await signer.createWallet(walletId, userId)
    await signer.putGrant({
      ...grantedOf(INITIAL_POLICY),
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
      effect: 'enlarges',
      authorization: null,
    })
    wallets.push({ walletId, keyId, proofKey, nonce: 0 })
  }
  return wallets
}

export async function measureBare(): Promise<number> {
  const digest = randomBytes(32)
  const scalar = randomBytes(32)
  const bench = new Bench({ time: 400, warmupTime: 100 })
  bench.add('sign', () => {
    native.ecdsaSign(digest, scalar)
  })
  const [task] = await bench.run()
  const result = task?.result
  if (result === undefined || !('latency' in result)) throw new Error('bare rate not measured')
  return 1_000 / result.latency.p50
}

/** Distinct 16-byte ids; cheap, because the callers' CPU counts as the service's. */
function createRequestIds(): () => Buffer {
  const base = randomBytes(16)
  let count = 0
  return () => {
    const id = Buffer.from(base)
    id.writeUInt32BE(count++, 12)
    return id
  }
}

async function drive(
  signer: ConnectedCoSigner,
  wallets: readonly BenchWallet[],
  callers: number,
  durationMs: number,
): Promise<{ count: number; elapsedMs: number; latenciesMs: number[] }> {
  const latenciesMs: number[] = []
  const requestIds = createRequestIds()
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
          requestId: requestIds(),
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
  return { count: latenciesMs.length, elapsedMs, latenciesMs }
}
