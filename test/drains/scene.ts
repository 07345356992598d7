import { setTimeout as delay } from 'node:timers/promises'
import { decodeEventLog, getAddress, parseAbi } from 'viem'
import type { Address } from '../../src/domain/ids.js'
import { parseUsd } from '../../src/domain/money.js'
import { newAddress } from '../e2e/chain.js'
import { finalOf, type IssuedKey, issueKey, usedToday } from '../e2e/stack.js'
import type { HttpClient } from '../support/http-client.js'
import { actAs, loot } from './attacker.js'
import { type Call, callTo, ETHER } from './calls.js'
import type { Places, Stage } from './stage.js'
import { type Owner, wealthOf } from './wealth.js'

/** One way of getting money past the cap of a key, and how it must end. */
export interface DrainCase {
  readonly title: string
  /** How the last call of the attack ends: counted in full or refused with a code. */
  readonly expected: 'counted' | string
  /** Of the attacking key; without it the cap is wide, so that what is counted is what protects. */
  readonly dailyUsd?: string
  /** Done by somebody else, or long ago with another key: no spend of the attacking key. */
  readonly given?: (scene: Scene) => Promise<unknown>
  readonly attack: (scene: Scene) => Promise<unknown>
  /** Money that comes in after the attack, besides what always does. */
  readonly later?: (scene: Scene) => Promise<unknown>
  /** What the attacker does then, besides taking all that it has a right to. */
  readonly followUp?: (scene: Scene) => Promise<unknown>
  /** Dollars; what the attacking key must have counted at least, whatever other keys did before. */
  readonly countsOnKey?: number
  /** True where what leaves was counted on the other key, before the attack. */
  readonly countedBefore?: boolean
  /** Dollars; for honest use: at most this may be counted. */
  readonly countedAtMost?: number
  /** True where nothing can leave, whatever the attacker does. */
  readonly harmless?: boolean
  /** True where a block in between makes a call more expensive than it was when it was run. */
  readonly mayRunOutOfGas?: true
}

export interface Scene {
  readonly stage: Stage
  readonly at: Places
  readonly wallet: Address
  readonly account: Address
  readonly positionId: bigint
  /** The attacking key; it may be rotated. */
  key: IssuedKey
  /** A key of another lineage, under which `given` sends. */
  readonly elder: IssuedKey
  readonly attacker: Address
  /** Contracts and accounts of the attacker. */
  readonly parties: Address[]
  readonly outcomes: Outcome[]
  /** What `given` leaves to the rest of the case. */
  readonly notes: { spender: Address }
  /** Waits until it is final. */
  send(call: Call, key?: IssuedKey): Promise<Outcome>
  /** One after the other, all before a block has any of them. */
  sendWithin(calls: readonly Call[]): Promise<void>
  deploy(name: string): Promise<Address>
}

interface Outcome {
  readonly call: Call
  /** Null when it was accepted. */
  readonly refusal: string | null
  readonly status: string
  readonly spend: string
}

/** What one case came to, micro-USD. */
export interface Played {
  readonly scene: Scene
  readonly leftMicros: bigint
  /** As spent: by the attacking key, and by the elder one from the attack on. */
  readonly countedMicros: bigint
  /** Of the attacking key alone. */
  readonly usedByKeyMicros: bigint
  /** What the wallet had in the end. */
  readonly wealthMicros: bigint
}

const BASE = 8453
const WIDE_USD = '1000000'
/** In each place of a wallet. */
const DOLLARS = 500n
/** What comes in after the attack, of each token. */
const LATER_DOLLARS = 10_000n
const QUIET_TIMEOUT_MS = 120_000
const POLL_MS = 50

const endowedAbi = parseAbi([
  'event Endowed(address indexed wallet, uint256 positionId, address account)',
])

async function setScene(stage: Stage, dailyUsd: string = WIDE_USD): Promise<Scene> {
  const { stack } = stage
  const made = await stack.owner.post('/wallets', { name: 'drained' })
  const { sub_wallet_id: subWalletId, addresses } = made.json
  if (subWalletId === undefined || addresses === undefined) throw new Error(made.text)
  const wallet = getAddress(addresses.evm)
  const chains = [BASE]
  const [key, elder] = [
    await issueKey(stack, { subWalletId, chains, dailyUsd, monthlyUsd: WIDE_USD }),
    await issueKey(stack, { subWalletId, chains, dailyUsd: WIDE_USD, monthlyUsd: WIDE_USD }),
  ]
  const attacker = getAddress(newAddress())
  const { account, positionId } = await endow(stage, wallet)
  const outcomes: Outcome[] = []
  const scene: Scene = {
    ...{ stage, at: stage.at, wallet, account, positionId, key, elder, attacker, outcomes },
    parties: [attacker, stage.at.Thief, stage.at.friend],
    notes: { spender: attacker },
    async send(call, by = scene.key) {
      const outcome = await (await submit(by.api, call))()
      outcomes.push(outcome)
      return outcome
    },
    async sendWithin(calls) {
      const sent: (() => Promise<Outcome>)[] = []
      await betweenBlocks(stage, async () => {
        for (const call of calls) sent.push(await submit(scene.key.api, call))
      })
      for (const outcome of sent) outcomes.push(await outcome())
    },
    async deploy(name) {
      const address = await stage.deploy(name)
      scene.parties.push(address)
      return address
    },
  }
  return scene
}

/** All scenes share one chain: were two here at once, one would let a block come to the other. */
let lastBetweenBlocks: Promise<unknown> = Promise.resolve()

async function betweenBlocks({ chain }: Stage, act: () => Promise<void>): Promise<void> {
  const acted = lastBetweenBlocks.then(async () => {
    await chain.client.setAutomine(false)
    try {
      await act()
    } finally {
      await chain.client.setAutomine(true)
    }
  })
  lastBetweenBlocks = acted.catch(() => undefined)
  await acted
}

/**
 * Asks again while the one node of these cases takes longer than it may, on a busy machine: no
 * case is about that, and nothing was reserved.
 * @returns what waits until it is final
 */
async function submit(api: HttpClient, call: Call): Promise<() => Promise<Outcome>> {
  const { to, data, value } = call
  const body = { chain_id: BASE, to, data, value: value.toString() }
  const deadlineMs = Date.now() + QUIET_TIMEOUT_MS
  let reply = await api.post('/api/tx/send', body)
  while (reply.code === 'CHAIN_UNAVAILABLE' && Date.now() < deadlineMs) {
    await delay(POLL_MS)
    reply = await api.post('/api/tx/send', body)
  }
  if (reply.status !== 200 && reply.status !== 202) {
    const refusal = reply.code ?? reply.text
    return async () => ({ call, refusal, status: 'refused', spend: '0' })
  }
  return async () => {
    const { status, spend_usd } = await finalOf(api, reply.json.tx_id)
    return { call, refusal: null, status: String(status), spend: String(spend_usd) }
  }
}

async function endow(stage: Stage, wallet: Address) {
  const { chain, at } = stage
  const from = getAddress(newAddress())
  const { data } = callTo(at.benefactor, 'endow(address,uint256)', [wallet, DOLLARS])
  await chain.client.setBalance({ address: from, value: 10n * ETHER })
  await chain.client.impersonateAccount({ address: from })
  const receipt = await chain.client.sendTransactionSync({
    ...{ account: from, to: at.benefactor, data, value: 2n * ETHER, gas: 10_000_000n },
    // Another case may keep blocks from coming for as long as its calls take.
    timeout: QUIET_TIMEOUT_MS,
  })
  const log = receipt.logs.find(
    ({ address }) => address.toLowerCase() === at.benefactor.toLowerCase(),
  )
  if (receipt.status !== 'success' || log === undefined) throw new Error('nothing was given')
  return decodeEventLog({ abi: endowedAbi, ...log }).args
}

/** The whole of a case but what only the days after would show. */
export async function play(stage: Stage, drain: DrainCase): Promise<Played> {
  const scene = await setScene(stage, drain.dailyUsd)
  await drain.given?.(scene)
  scene.outcomes.length = 0
  const owner: Owner = { address: scene.wallet, account: scene.account }
  const elderBefore = await usedToday(scene.elder.api)
  const opening = await wealthOf(stage, owner)
  await drain.attack(scene)
  await untilQuiet(scene)
  await takeAll(scene, drain)
  const beforeGift = await wealthOf(stage, owner)
  // Money that comes in later is the wallet's too.
  const gift = callTo(stage.at.benefactor, 'give(address,uint256)', [scene.wallet, LATER_DOLLARS])
  if (!(await actAs(stage, getAddress(newAddress()), gift))) throw new Error('nothing came in')
  await drain.later?.(scene)
  const given = (await wealthOf(stage, owner)) - beforeGift
  await takeAll(scene, drain)
  const wealthMicros = await wealthOf(stage, owner)
  const usedByKeyMicros = await usedToday(scene.key.api)
  const elderUsed = await usedToday(scene.elder.api)
  return {
    scene,
    leftMicros: opening + given - wealthMicros,
    countedMicros: usedByKeyMicros + elderUsed - (drain.countedBefore === true ? 0n : elderBefore),
    usedByKeyMicros,
    wealthMicros,
  }
}

/** What the attacker takes; again and again, as long as there is time. */
export async function takeAll(scene: Scene, { followUp }: DrainCase): Promise<void> {
  const { stage, wallet, account, parties, attacker } = scene
  await followUp?.(scene)
  await loot(stage, { address: wallet, account }, parties, attacker)
}

/** Until nothing is reserved and all that was spent is settled. */
async function untilQuiet({ key, elder }: Scene): Promise<void> {
  const deadlineMs = Date.now() + QUIET_TIMEOUT_MS
  for (const { api } of [key, elder]) {
    for (;;) {
      const { json, text } = await api.get('/api/limits')
      if (parseUsd(String(json.reserved_usd)) === 0n) break
      if (Date.now() > deadlineMs) throw new Error(`still reserved: ${text}`)
      await delay(POLL_MS)
    }
  }
}
