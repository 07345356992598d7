import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { BLOCK_TIME_MS } from '../../scripts/dev/chains/block-ticker.js'
import type { ChainsFile } from '../../src/config/chains.js'
import type { ChainId } from '../../src/domain/chains.js'
import { chainOf } from '../defi/sponsored-wallet.js'
import { chainView } from '../e2e/chain.js'
import { type Stack, startStack } from '../e2e/stack.js'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js'
import { createBlockMaker } from './block-maker.js'
import { readHistory } from './chain-history.js'
import { chainWorth } from './chain-worth.js'
import { everyFault } from './mix.js'
import { seededRandom } from './random.js'
import {
  type Agent,
  type Asked,
  askAgain,
  askFor,
  askUntilDone,
  createAgents,
  GIVEN_SHARES_USDC,
  type MixChain,
  newestLine,
  type Random,
} from './service-agents.js'
import { auditAgent, type Evidence } from './service-audit.js'
import { createDisturbances, refillAll, type World } from './service-disturbances.js'
import { changeKeys } from './service-keys.js'
import { verifyAudit } from './verify-audit.js'

/**
 * The whole service in a random mix of faults: sends and sponsored calls over nodes that lag, break
 * and take blocks back, keys that change, callers that ask again, gas wallets that run dry, and each
 * of its processes killed or halted.
 */
export interface ServiceMixOptions {
  readonly seed: number
  readonly chainIds: readonly ChainId[]
  readonly wallets: number
  readonly calls: number
  /** Longest wait for the last of them to end. */
  readonly settleMs: number
  /** What is waited for: a failed sponsored call holds its spend for minutes. */
  readonly rest: 'all-final' | 'nothing-held'
  /** Where the logs of a run go that found something; null: nowhere. */
  readonly logs: string | null
  readonly progress: (sentence: string) => void
}

export interface ServiceMixReport {
  readonly seed: number
  readonly asked: number
  readonly askedAgain: number
  readonly acknowledged: number
  readonly unknown: number
  readonly refused: Readonly<Record<string, number>>
  readonly confirmed: Readonly<Record<string, number>>
  readonly disturbances: Readonly<Record<string, number>>
  /** Lines of keys whose counters were compared with the chains. */
  readonly linesCounted: number
  readonly elapsedMs: number
  /** Sentences of the auditor; empty when nothing was lost, doubled or jammed. */
  readonly wrong: readonly string[]
}

const BURST_MAX = 10
const PAUSE_MS_MAX = 150
const DISTURBED_CHANCE = 0.6
const ASKED_AGAIN_CHANCE = 0.4
/** Callers ask again for what they asked for lately. */
const LATELY = 60
const CONFIRMATIONS = 2
/** What the mix begins with lies deeper than any reorg. */
const DEEP_BLOCKS = 8
/** Transactions that wait are mined so often; where none does, the stack's block time counts. */
const MINED_EVERY_MS = 100
const STILL_MS = 3 * BLOCK_TIME_MS
const SETTLE_POLL_MS = 250
const PROGRESS_SHARE = 0.1
/** Most of what an agent asks for fits a tight cap, and not all. */
const TIGHT_USD_PER_CALL = 0.2

export async function runServiceMix(options: ServiceMixOptions): Promise<ServiceMixReport> {
  const { seed, chainIds, calls, progress } = options
  const startedAt = performance.now()
  const seconds = () => Math.round((performance.now() - startedAt) / 1_000)
  const stack = await startStack()
  const proxies: FaultProxy[] = []
  const chains = new Map<number, MixChain>()
  try {
    const { service } = stack
    const tightUsd = Math.max(1, Math.round((calls / options.wallets) * TIGHT_USD_PER_CALL))
    const agents = await createAgents(stack, options.wallets, chainIds, tightUsd)
    for (const id of chainIds) chains.set(id, await mixChain(stack, id))
    for (const id of chainIds) {
      const upstream = service.dev().rpc[id] ?? ''
      const own = [await startFaultProxy({ upstream }), await startFaultProxy({ upstream })]
      proxies.push(...own)
      pointChainAt(service.home, id, own)
    }
    await service.killAndAwaitRestart('service')
    for (const chain of chains.values()) await takeOver(chain)
    const world: World = { stack, agents, chains, halts: [] }
    const random = seededRandom(seed)
    for (const proxy of proxies) proxy.setRandom(everyFault(random.integer(2 ** 31)))
    const disturbances: Record<string, number> = {}
    const answers: Promise<void>[] = []
    const repeatable: Asked[] = []
    const nextDisturbance = createDisturbances(seededRandom(random.integer(2 ** 31)))
    let askedAgain = 0
    let told = 0
    for (let asked = 0; asked < calls; ) {
      // Its own sequence for each step: what is drawn in it may depend on answers.
      const step = seededRandom(random.integer(2 ** 31))
      const burst = Math.min(1 + step.integer(BURST_MAX), calls - asked)
      asked += burst
      for (let i = 0; i < burst; i++) {
        const agent = step.pick(agents)
        answers.push(askFor(agent, step, chainOfMix(chains, step.pick(chainIds))))
        const latest = agent.asked.at(-1)
        if (latest !== undefined && latest.idempotencyKey !== null) repeatable.push(latest)
      }
      if (step.chance(ASKED_AGAIN_CHANCE) && repeatable.length > 0) {
        const again = step.pick(repeatable.slice(-LATELY))
        answers.push(askAgain(again, step, chainOfMix(chains, again.chainId)))
        askedAgain++
      }
      const what = step.chance(DISTURBED_CHANCE) ? await nextDisturbance()(world, step) : null
      if (what !== null) disturbances[what] = (disturbances[what] ?? 0) + 1
      if (asked >= told + calls * PROGRESS_SHARE) {
        told = asked
        progress(`seed ${seed}: ${asked} of ${calls} asked for, ${seconds()} s`)
      }
      await delay(step.integer(PAUSE_MS_MAX))
    }
    for (const proxy of proxies) proxy.clear()
    await Promise.all(world.halts)
    await refillAll(world)
    await Promise.all(answers)
    const wrong = await backAgain(world, random, options)
    wrong.push(...(await settled(stack, agents, options)))
    progress(`seed ${seed}: settled, ${seconds()} s`)
    const evidence = await evidenceOf(stack, chains)
    for (const { history } of evidence.values()) wrong.push(...history.wrong)
    const confirmed: Record<string, number> = {}
    let linesCounted = 0
    for (const agent of agents) {
      const verdict = await auditAgent(stack, agent, evidence)
      wrong.push(...verdict.wrong)
      linesCounted += verdict.linesCounted
      for (const { kind, status } of verdict.transactions) {
        if (status === 'confirmed') confirmed[kind] = (confirmed[kind] ?? 0) + 1
      }
    }
    const urls = chainIds.map((id) => service.dev().rpc[id] ?? '')
    wrong.push(...(await verifyAudit(service.home, urls)))
    if (wrong.length > 0 && options.logs !== null) {
      cpSync(join(service.home, 'logs'), join(options.logs, `seed-${seed}`), { recursive: true })
    }
    progress(`seed ${seed}: audited, ${wrong.length} wrong, ${seconds()} s`)
    const all = agents.flatMap(({ asked }) => asked.flatMap((it) => it.answers))
    const refused: Record<string, number> = {}
    for (const answer of all) {
      if (answer.kind === 'refused') refused[answer.code] = (refused[answer.code] ?? 0) + 1
    }
    return {
      ...{ seed, asked: calls, askedAgain },
      acknowledged: all.filter(({ kind }) => kind === 'acknowledged').length,
      unknown: all.filter(({ kind }) => kind === 'unknown').length,
      ...{ refused, confirmed, disturbances, linesCounted },
      elapsedMs: performance.now() - startedAt,
      wrong,
    }
  } finally {
    for (const { maker } of chains.values()) await maker.stop()
    await stack.service.stop()
    await Promise.all(proxies.map((proxy) => proxy.close()))
  }
}

async function mixChain(stack: Stack, chainId: number): Promise<MixChain> {
  const { wrapped, marketId, vault, oneUsdc, client } = chainOf(stack, chainId)
  const view = chainView(stack.service.dev(), chainId)
  const given = `0x${(GIVEN_SHARES_USDC * oneUsdc).toString(16).padStart(64, '0')}`
  // convertToShares(uint256)
  const { data: shares = '0x0' } = await client.call({
    to: vault,
    data: `0xc6e6f592${given.slice(2)}`,
  })
  await view.call('anvil_mine', [`0x${DEEP_BLOCKS.toString(16)}`])
  const fromBlock = Number(await view.call('eth_blockNumber', [])) + 1
  const halves = GIVEN_SHARES_USDC * 2n
  return {
    ...{ view, wrapped, marketId, vault, fromBlock },
    maker: createBlockMaker(`chain ${chainId}`, view.call),
    halfUsdc: oneUsdc / 2n,
    halfShares: BigInt(shares) / halves,
  }
}

/**
 * From here on the chain's blocks are made here alone: the stack's ticks leave a chain that does not
 * automine, and none is under way once its head has not moved for the time of several.
 */
async function takeOver({ view, maker }: MixChain): Promise<void> {
  await view.call('evm_setAutomine', [false])
  const height = async () => Number(await view.call('eth_blockNumber', []))
  for (let before = -1, head = await height(); head !== before; head = await height()) {
    before = head
    await delay(STILL_MS)
  }
  let minedMs = 0
  maker.start(MINED_EVERY_MS, async () => {
    const { pending } = (await view.call('txpool_status', [])) as { readonly pending: string }
    if (Number(pending) === 0 && Date.now() - minedMs < BLOCK_TIME_MS) return false
    minedMs = Date.now()
    return true
  })
}

function chainOfMix(chains: ReadonlyMap<number, MixChain>, chainId: number): MixChain {
  const chain = chains.get(chainId)
  if (chain === undefined) throw new Error(`chain ${chainId} is not in the mix`)
  return chain
}

async function evidenceOf(
  { service }: Stack,
  chains: ReadonlyMap<number, MixChain>,
): Promise<Map<number, Evidence>> {
  const evidence = new Map<number, Evidence>()
  for (const [id, chain] of chains) {
    const history = await readHistory(chain.view, chain.fromBlock)
    const worth = await chainWorth(service.home, chain.view, chain.vault)
    evidence.set(id, { chain, history, worth })
  }
  return evidence
}

function pointChainAt(home: string, chainId: number, proxies: readonly FaultProxy[]): void {
  const path = join(home, 'chains.json')
  const file = JSON.parse(readFileSync(path, 'utf8')) as ChainsFile
  const rpc_urls = proxies.map(({ url }) => url)
  const chains = file.chains.map((chain) =>
    chain.id === chainId ? { ...chain, rpc_urls, confirmations: CONFIRMATIONS } : chain,
  )
  writeFileSync(path, JSON.stringify({ ...file, chains }))
}

/** When the faults are over one agent, which no cap stops, gets a send through on each chain. */
async function backAgain(
  { stack, agents, chains }: World,
  random: Random,
  { settleMs }: ServiceMixOptions,
): Promise<string[]> {
  const agent = agents[0]
  if (agent === undefined) throw new Error('a mix without agents')
  // Its key may have been revoked: then it gets another.
  if (newestLine(agent).revoked !== 'no') await changeKeys(stack, agent, random)
  const deadlineMs = Date.now() + settleMs
  const wrong: string[] = []
  for (const [id, chain] of chains) {
    if (await askUntilDone(agent, random, chain, deadlineMs)) continue
    const codes = agent.asked
      .at(-1)
      ?.answers.map((it) => (it.kind === 'refused' ? it.code : it.kind))
    wrong.push(`chain ${id}: nothing gets through after the faults: ${codes?.slice(-5).join(', ')}`)
  }
  return wrong
}

/**
 * Waits until nothing is open and, in a long run, nothing held by an intent that could still be
 * executed. @returns what still is when the time is over
 */
async function settled(
  { owner }: Stack,
  agents: readonly Agent[],
  { settleMs, rest }: ServiceMixOptions,
): Promise<string[]> {
  const deadlineMs = Date.now() + settleMs
  for (;;) {
    const open: string[] = []
    for (const { subWalletId, lines } of agents) {
      for (const status of ['signed', 'broadcast']) {
        const path = `/transactions?sub_wallet_id=${subWalletId}&status=${status}`
        const { json } = await owner.get(path)
        for (const tx of json.transactions ?? []) {
          open.push(`${tx.tx_id} ${tx.kind} ${tx.chain_id}:${tx.nonce} ${tx.status}`)
        }
      }
      const line = lines.at(-1)
      if (rest !== 'nothing-held' || line?.revoked !== 'no') continue
      const { json } = (await line.keys.at(-1)?.api.get('/api/limits')) ?? {}
      if (json?.reserved_usd !== '0.00') open.push(`${subWalletId} holds ${json?.reserved_usd}`)
    }
    if (open.length === 0) return []
    if (Date.now() > deadlineMs) return [`${open.length} not final: ${open.slice(0, 8).join('; ')}`]
    await delay(SETTLE_POLL_MS)
  }
}
