import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { ChainsFile } from '../../src/config/chains.js'
import { readGasWalletsFile } from '../../src/defi/gas-wallets-file.js'
import type { ChainId } from '../../src/domain/chains.js'
import { chainOf } from '../defi/sponsored-wallet.js'
import { chainView } from '../e2e/chain.js'
import { type Stack, startStack } from '../e2e/stack.js'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js'
import { everyFault } from './mix.js'
import { seededRandom } from './random.js'
import {
  type Agent,
  askFor,
  changeKeys,
  createAgents,
  type MixChain,
  type Random,
} from './service-agents.js'
import { auditAgent, auditEvidence } from './service-audit.js'

/**
 * The whole service in a random mix of faults: sends and sponsored calls over nodes that lag and
 * break, keys that change, gas wallets that run dry, and each of its processes killed or halted.
 */
export interface ServiceMixOptions {
  readonly seed: number
  readonly chainIds: readonly ChainId[]
  readonly wallets: number
  readonly calls: number
  /** Longest wait for the last of them to end. */
  readonly settleMs: number
}

export interface ServiceMixReport {
  readonly seed: number
  readonly acknowledged: number
  readonly unknown: number
  readonly refused: Readonly<Record<string, number>>
  readonly confirmed: Readonly<Record<string, number>>
  readonly disturbances: Readonly<Record<string, number>>
  readonly elapsedMs: number
  /** Sentences of the auditor; empty when nothing was lost, doubled or jammed. */
  readonly wrong: readonly string[]
}

const BURST_MAX = 10
const PAUSE_MS_MAX = 150
/** An outage that is over before its callers give up, and one that is not. */
const HALT_MS_MAX = 4_000
const CONFIRMATIONS = 2
/** Enough for every call of a long run. */
const REFILL_WEI = 10n ** 21n
const SETTLE_POLL_MS = 250

type Disturbance = (world: World, random: Random) => Promise<string | null>

interface World {
  readonly stack: Stack
  readonly agents: readonly Agent[]
  readonly chains: ReadonlyMap<number, MixChain>
  /** Halts that are not over. */
  readonly halts: Promise<void>[]
}

const DISTURBANCES: readonly { readonly chance: number; readonly run: Disturbance }[] = [
  {
    chance: 0.3,
    run: ({ stack, agents }, random) => changeKeys(stack, random.pick(agents), random),
  },
  { chance: 0.06, run: killed('service') },
  { chance: 0.06, run: killed('identity_provider') },
  { chance: 0.06, run: halted('identity_provider') },
  { chance: 0.04, run: killed('quorum_signer') },
  { chance: 0.1, run: emptied },
  { chance: 0.15, run: refilled },
]

export async function runServiceMix(options: ServiceMixOptions): Promise<ServiceMixReport> {
  const { seed, chainIds, calls } = options
  const random = seededRandom(seed)
  const startedAt = performance.now()
  const stack = await startStack()
  const proxies: FaultProxy[] = []
  try {
    const { service } = stack
    const agents = await createAgents(stack, options.wallets, chainIds)
    const chains = new Map(chainIds.map((id) => [id, mixChain(stack, id)]))
    for (const id of chainIds) {
      const upstream = service.dev().rpc[id] ?? ''
      const own = [await startFaultProxy({ upstream }), await startFaultProxy({ upstream })]
      proxies.push(...own)
      pointChainAt(service.home, id, own)
    }
    await service.killAndAwaitRestart('service')
    for (const proxy of proxies) proxy.setRandom(everyFault(random.integer(2 ** 31)))
    const disturbances: Record<string, number> = {}
    const world: World = { stack, agents, chains, halts: [] }
    const answers: Promise<void>[] = []
    for (let asked = 0; asked < calls; ) {
      const burst = Math.min(1 + random.integer(BURST_MAX), calls - asked)
      asked += burst
      for (let i = 0; i < burst; i++) {
        const chain = chains.get(random.pick(chainIds))
        if (chain !== undefined) answers.push(askFor(random.pick(agents), random, chain))
      }
      const disturb = DISTURBANCES.find(({ chance }) => random.chance(chance))
      const what = (await disturb?.run(world, random)) ?? null
      if (what !== null) disturbances[what] = (disturbances[what] ?? 0) + 1
      await delay(random.integer(PAUSE_MS_MAX))
    }
    for (const proxy of proxies) proxy.clear()
    await Promise.all(world.halts)
    await refillAll(world)
    await Promise.all(answers)
    const wrong = await settled(stack, agents, options.settleMs)
    const confirmed: Record<string, number> = {}
    for (const agent of agents) {
      const verdict = await auditAgent(stack, agent, chains)
      wrong.push(...verdict.wrong)
      for (const { kind, status } of verdict.transactions) {
        if (status === 'confirmed') confirmed[kind] = (confirmed[kind] ?? 0) + 1
      }
    }
    const urls = chainIds.map((id) => service.dev().rpc[id] ?? '')
    wrong.push(...(await auditEvidence(service.home, urls)))
    const all = agents.flatMap(({ asked }) => asked)
    const refused: Record<string, number> = {}
    for (const { answer } of all) {
      if (answer.kind === 'refused') refused[answer.code] = (refused[answer.code] ?? 0) + 1
    }
    return {
      seed,
      acknowledged: all.filter(({ answer }) => answer.kind === 'acknowledged').length,
      unknown: all.filter(({ answer }) => answer.kind === 'unknown').length,
      refused,
      confirmed,
      disturbances,
      elapsedMs: performance.now() - startedAt,
      wrong,
    }
  } finally {
    await stack.service.stop()
    await Promise.all(proxies.map((proxy) => proxy.close()))
  }
}

function mixChain(stack: Stack, chainId: number): MixChain {
  const { wrapped, marketId, oneUsdc } = chainOf(stack, chainId)
  const view = chainView(stack.service.dev(), chainId)
  return { view, wrapped, marketId, halfUsdc: oneUsdc / 2n }
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

type Part = 'service' | 'identity_provider' | 'quorum_signer'

function killed(part: Part): Disturbance {
  return async ({ stack, halts }) => {
    // One that is halted or just being started again cannot be killed once more.
    if (halts.length > 0 || stack.service.dev().pids[part] === null) return null
    await stack.service.killAndAwaitRestart(part)
    return `${part} killed`
  }
}

/** It neither answers nor refuses for a while. */
function halted(part: Part): Disturbance {
  return async ({ stack, halts }, random) => {
    if (halts.length > 0 || stack.service.dev().pids[part] === null) return null
    stack.service.signal(part, 'SIGSTOP')
    const over = delay(random.integer(HALT_MS_MAX)).then(() => {
      stack.service.signal(part, 'SIGCONT')
      halts.length = 0
    })
    halts.push(over)
    return `${part} halted`
  }
}

async function emptied({ stack, chains }: World, random: Random): Promise<string> {
  const { view } = random.pick([...chains.values()])
  const address = random.pick(gasWalletsOf(stack, view.chainId))
  await view.call('anvil_setBalance', [address, '0x0'])
  return 'gas wallet emptied'
}

async function refilled({ stack, chains }: World, random: Random): Promise<string> {
  const { view } = random.pick([...chains.values()])
  await refill(view, gasWalletsOf(stack, view.chainId))
  return 'gas wallets refilled'
}

async function refillAll({ stack, chains }: World): Promise<void> {
  for (const { view } of chains.values()) await refill(view, gasWalletsOf(stack, view.chainId))
}

async function refill(view: MixChain['view'], addresses: readonly string[]): Promise<void> {
  const wei = `0x${REFILL_WEI.toString(16)}`
  for (const address of addresses) await view.call('anvil_setBalance', [address, wei])
}

function gasWalletsOf({ service }: Stack, chainId: number): readonly string[] {
  return readGasWalletsFile(service.home)[chainId] ?? []
}

/** Waits until nothing is open. @returns what still is when the time is over */
async function settled(
  { owner }: Stack,
  agents: readonly Agent[],
  settleMs: number,
): Promise<string[]> {
  const deadlineMs = Date.now() + settleMs
  for (;;) {
    const open: string[] = []
    for (const { subWalletId } of agents) {
      for (const status of ['signed', 'broadcast']) {
        const path = `/transactions?sub_wallet_id=${subWalletId}&status=${status}`
        const { json } = await owner.get(path)
        for (const tx of json.transactions ?? []) {
          open.push(`${tx.tx_id} ${tx.kind} ${tx.chain_id}:${tx.nonce} ${tx.status}`)
        }
      }
    }
    if (open.length === 0) return []
    if (Date.now() > deadlineMs) return [`${open.length} not final: ${open.slice(0, 8).join('; ')}`]
    await delay(SETTLE_POLL_MS)
  }
}
