import { setTimeout as delay } from 'node:timers/promises'
import { readGasWalletsFile } from '../../src/defi/gas-wallets-file.js'
import type { Stack } from '../e2e/stack.js'
import type { Agent, MixChain, Random } from './service-agents.js'
import { changeKeys } from './service-keys.js'

/** What goes wrong in the mix of the whole service, besides its nodes' faults. */
export interface World {
  readonly stack: Stack
  readonly agents: readonly Agent[]
  readonly chains: ReadonlyMap<number, MixChain>
  /** Halts that are not over. */
  readonly halts: Promise<void>[]
}

/** @returns what was done; null when it could not be */
type Disturbance = (world: World, random: Random) => Promise<string | null>

type Part = 'service' | 'identity_provider' | 'quorum_signer'

/** An outage that is over before its callers give up, and one that is not. */
const HALT_MS_MAX = 4_000
/** One more than makes a transaction of the mix confirmed; what it began with lies deeper. */
const REORG_DEPTH_MAX = 3
/** Enough for every call of a long run. */
const REFILL_WEI = 10n ** 21n

const DECK: readonly Disturbance[] = [
  ...Array<Disturbance>(6).fill(({ stack, agents }, random) =>
    changeKeys(stack, random.pick(agents), random),
  ),
  ...Array<Disturbance>(3).fill(reorganized),
  emptied,
  refilled,
  refilled,
  killed('service'),
  killed('identity_provider'),
  killed('quorum_signer'),
  halted('identity_provider'),
  halted('quorum_signer'),
]

/** Dealt like cards, so that in any run of some length each has its turn. */
export function createDisturbances(random: Random): () => Disturbance {
  let cards: Disturbance[] = []
  return () => {
    if (cards.length === 0) cards = shuffled(DECK, random)
    const card = cards.pop()
    if (card === undefined) throw new Error('no disturbance is left')
    return card
  }
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const rest = [...items]
  return items.map(() => {
    const [item] = rest.splice(random.integer(rest.length), 1)
    if (item === undefined) throw new Error('nothing left to deal')
    return item
  })
}

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
    const haltMs = random.integer(HALT_MS_MAX)
    if (halts.length > 0 || stack.service.dev().pids[part] === null) return null
    stack.service.signal(part, 'SIGSTOP')
    const over = delay(haltMs).then(() => {
      stack.service.signal(part, 'SIGCONT')
      halts.length = 0
    })
    halts.push(over)
    return `${part} halted`
  }
}

/** The outermost blocks are taken back, with all that they held, and empty ones come in their place. */
async function reorganized({ chains }: World, random: Random): Promise<string> {
  const { maker } = random.pick([...chains.values()])
  await maker.reorg(1 + random.integer(REORG_DEPTH_MAX))
  return 'reorg'
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

export async function refillAll({ stack, chains }: World): Promise<void> {
  for (const { view } of chains.values()) await refill(view, gasWalletsOf(stack, view.chainId))
}

async function refill(view: MixChain['view'], addresses: readonly string[]): Promise<void> {
  const wei = `0x${REFILL_WEI.toString(16)}`
  for (const address of addresses) await view.call('anvil_setBalance', [address, wei])
}

function gasWalletsOf({ service }: Stack, chainId: number): readonly string[] {
  return readGasWalletsFile(service.home)[chainId] ?? []
}
