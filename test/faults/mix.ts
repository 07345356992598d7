import { setTimeout as delay } from 'node:timers/promises'
import type { ChainId } from '../../src/domain/chains.js'
import type { RandomMix } from '../support/fault-proxy.js'
import { allFinal, audit, type Verdict } from './auditor.js'
import type { FaultChain } from './chain.js'
import { type Harness, RECIPIENT, startHarness, type TestWallet } from './harness.js'
import { seededRandom } from './random.js'
import { verifyAudit } from './verify-audit.js'

/** Every fault at once, in an order that a seed decides, over many wallets and chains. */
export interface MixOptions {
  readonly seed: number
  readonly chainIds: readonly ChainId[]
  readonly wallets: number
  readonly transactions: number
  /** Longest wait for the last of them to end. */
  readonly settleMs: number
  readonly progress: (sentence: string) => void
}

export interface MixReport {
  readonly seed: number
  readonly accepted: number
  /** Sends that were refused before anything was signed, by code. */
  readonly refused: Readonly<Record<string, number>>
  /** Records in the store: accepted sends, and self-sends that closed holes. */
  readonly transactions: number
  readonly confirmed: number
  readonly dropped: number
  readonly replaced: number
  readonly disturbances: Readonly<Record<string, number>>
  readonly restarts: number
  readonly fromOutside: number
  readonly elapsedMs: number
  /** Sentences of the auditor; empty when nothing was lost, doubled or jammed. */
  readonly wrong: readonly string[]
}

const SEND = 'eth_sendRawTransaction'
/** At most so many sends before chance gets a turn. */
const BURST_MAX = 12
const PAUSE_MS_MAX = 120
const PROGRESS_SHARE = 0.1
/** Outermost blocks are taken back; balances lie deeper. */
const REORG_DEPTH_MAX = 3
/** Chances per burst. */
const CHANCES = { reorg: 0.12, baseFee: 0.1, drop: 0.3, outside: 0.1, restart: 0.1 }

export async function runMix(options: MixOptions): Promise<MixReport> {
  const { seed, chainIds, transactions, settleMs, progress } = options
  const random = seededRandom(seed)
  const startedAt = performance.now()
  const harness = await startHarness(chainIds)
  try {
    const wallets: TestWallet[] = []
    for (let i = 0; i < options.wallets; i++) wallets.push(await harness.createWallet())
    const outside = new Map<TestWallet, Map<number, number>>()
    const disturbances: Record<string, number> = {}
    const refused: Record<string, number> = {}
    const note = (what: string) => {
      disturbances[what] = (disturbances[what] ?? 0) + 1
    }
    for (const chain of harness.chains.values()) {
      chain.startMining()
      for (const proxy of chain.proxies) proxy.setRandom(everyFault(random.integer(2 ** 31)))
    }
    const answers: Promise<void>[] = []
    let accepted = 0
    let restarts = 0
    let told = 0
    for (let sent = 0; sent < transactions; ) {
      const burst = Math.min(1 + random.integer(BURST_MAX), transactions - sent)
      for (let i = 0; i < burst; i++, sent++) {
        const wallet = random.pick(wallets)
        const answer = harness.send(wallet, random.pick(chainIds)).then((result) => {
          if (result.ok) accepted++
          else refused[result.fault.code] = (refused[result.fault.code] ?? 0) + 1
        })
        answers.push(answer)
      }
      const chain = harness.chain(random.pick(chainIds))
      const what = await disturb(chain, random, random.pick(wallets), outside)
      if (what !== null) note(what)
      if (random.chance(CHANCES.restart)) {
        restarts++
        await harness.restart()
      }
      if (sent >= told + transactions * PROGRESS_SHARE) {
        told = sent
        const seconds = Math.round((performance.now() - startedAt) / 1_000)
        progress(`seed ${seed}: ${sent} of ${transactions} sent, ${seconds} s`)
      }
      await delay(random.integer(PAUSE_MS_MAX))
    }
    for (const { proxies } of harness.chains.values()) for (const proxy of proxies) proxy.clear()
    const wrong: string[] = []
    await allFinal(harness, wallets, settleMs).catch((error: Error) => wrong.push(error.message))
    await quiet(harness)
    await allFinal(harness, wallets, settleMs).catch((error: Error) => wrong.push(error.message))
    const verdicts: Verdict[] = []
    for (const wallet of wallets) verdicts.push(await audit(harness, wallet, outside.get(wallet)))
    const sum = (of: (verdict: Verdict) => number) =>
      verdicts.reduce((total, verdict) => total + of(verdict), 0)
    wrong.push(
      ...(await unexplained(
        harness,
        sum((it) => it.fromOutside),
      )),
    )
    return {
      seed,
      accepted,
      refused,
      transactions: sum((it) => it.transactions),
      confirmed: sum((it) => it.confirmed),
      dropped: sum((it) => it.dropped),
      replaced: sum((it) => it.replaced),
      disturbances,
      restarts,
      fromOutside: sum((it) => it.fromOutside),
      elapsedMs: performance.now() - startedAt,
      wrong: [...wrong, ...verdicts.flatMap((it) => it.wrong)],
    }
  } finally {
    await harness.stop()
  }
}

/**
 * What `verify-audit` says, but for nonces that accounts used from outside: those of which the
 * service had signed another transaction have evidence.
 */
async function unexplained(harness: Harness, fromOutside: number): Promise<string[]> {
  const urls = [...harness.chains.values()].map(({ anvil }) => anvil.url)
  const problems = await verifyAudit(harness.home, urls)
  const nonces = problems.filter((problem) => problem.endsWith('used without evidence'))
  const others = problems.filter((problem) => !nonces.includes(problem))
  return nonces.length <= fromOutside
    ? others
    : [...others, `${nonces.length} nonces without evidence, ${fromOutside} used from outside`]
}

/** Blocks on top of everything, so that no late reorg is still being digested. */
async function quiet(harness: Harness): Promise<void> {
  for (const chain of harness.chains.values()) await chain.mine(REORG_DEPTH_MAX + 1)
  await delay(QUIET_MS)
}

const QUIET_MS = 1_500

type Random = ReturnType<typeof seededRandom>

async function disturb(
  chain: FaultChain,
  random: Random,
  wallet: TestWallet,
  outside: Map<TestWallet, Map<number, number>>,
): Promise<string | null> {
  const { anvil } = chain
  if (random.chance(CHANCES.reorg)) {
    await chain.reorg(1 + random.integer(REORG_DEPTH_MAX))
    return 'reorg'
  }
  if (random.chance(CHANCES.baseFee)) {
    const price = BigInt(String(await anvil.rpc('eth_gasPrice')))
    const cap = 10n ** 11n
    const next = price * 10n > cap ? cap : price * 10n
    await anvil.rpc('anvil_setNextBlockBaseFeePerGas', [`0x${next.toString(16)}`])
    return 'base fee × 10'
  }
  if (random.chance(CHANCES.drop)) {
    const pending = (await anvil.rpc('txpool_content')) as {
      readonly pending: Readonly<
        Record<string, Readonly<Record<string, { readonly hash: string }>>>
      >
    }
    const hashes = Object.values(pending.pending).flatMap((byNonce) =>
      Object.values(byNonce).map(({ hash }) => hash),
    )
    if (hashes.length === 0) return null
    await anvil.rpc('anvil_dropTransaction', [random.pick(hashes)])
    return 'dropped from the pool'
  }
  if (random.chance(CHANCES.outside)) {
    if (!(await chain.landFromOutside(wallet.address, RECIPIENT))) return null
    const counts = outside.get(wallet) ?? new Map<number, number>()
    counts.set(chain.id, (counts.get(chain.id) ?? 0) + 1)
    outside.set(wallet, counts)
    return 'account used from outside'
  }
  return null
}

export function everyFault(seed: number): RandomMix {
  const error = (message: string) => ({ kind: 'error', code: -32000, message }) as const
  const delegated = 'in-flight transaction limit reached for delegated accounts'
  return {
    seed,
    entries: [
      { chance: 0.04, method: SEND, fault: { kind: 'lose-answer' } },
      { chance: 0.01, method: SEND, fault: { kind: 'hang', forward: true } },
      { chance: 0.01, fault: { kind: 'hang', forward: false } },
      { chance: 0.02, fault: { kind: 'cut' } },
      { chance: 0.01, fault: { kind: 'http', status: 429, retryAfterSeconds: 0 } },
      { chance: 0.02, fault: { kind: 'http', status: 502 } },
      { chance: 0.01, fault: { kind: 'http', status: 503 } },
      { chance: 0.04, method: SEND, fault: { kind: 'swallow' } },
      { chance: 0.02, method: SEND, fault: error('already known') },
      { chance: 0.02, method: SEND, fault: error('nonce too low: next nonce 9, tx nonce 0') },
      { chance: 0.02, method: SEND, fault: error('replacement transaction underpriced') },
      { chance: 0.02, method: SEND, fault: error('transaction underpriced') },
      { chance: 0.02, method: SEND, fault: error(delegated) },
      { chance: 0.05, method: 'eth_getTransactionCount', fault: { kind: 'lag', blocks: 5 } },
      { chance: 0.05, method: 'eth_getBlockByNumber', fault: { kind: 'lag', blocks: 3 } },
    ],
  }
}
