import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Address } from '../../src/domain/ids.js'
import { chainOf, give, newWallet } from '../defi/sponsored-wallet.js'
import { type ChainView, chainView, newAddress } from '../e2e/chain.js'
import type { IssuedKey, Stack } from '../e2e/stack.js'
import type { Reply } from '../support/http-client.js'
import type { BlockMaker } from './block-maker.js'
import type { seededRandom } from './random.js'

export type Random = ReturnType<typeof seededRandom>

/** A chain of the mix, asked past the proxies. */
export interface MixChain {
  readonly view: ChainView
  readonly maker: BlockMaker
  readonly wrapped: Address
  readonly marketId: string
  readonly vault: Address
  readonly halfUsdc: bigint
  /** What half a USDC was worth of the vault when the mix began. */
  readonly halfShares: bigint
  /** The first block of the mix. */
  readonly fromBlock: number
}

/**
 * What a caller knows: `acknowledged` names a transaction; `refused` says that nothing was done,
 * and names what was signed and dropped before it; `unknown` got no answer, or one that leaves it open.
 */
type Answer =
  | { readonly kind: 'acknowledged'; readonly txId: string }
  | { readonly kind: 'refused'; readonly code: string; readonly txId: string | undefined }
  | { readonly kind: 'unknown' }

export interface Asked {
  readonly what: 'send' | 'swap' | 'deposit' | 'withdraw'
  readonly chainId: number
  /** Of its own, so that the chain says whether it was executed; null for sponsored calls. */
  readonly recipient: Address | null
  readonly amount: bigint
  readonly line: Line
  /** Sent along, so that the same request may be sent again; null: it is sent once. */
  readonly idempotencyKey: string | null
  /** The line had been revoked, and its owner told so, before this was asked. */
  readonly afterRevocation: boolean
  /** One for each time that it was sent. */
  readonly answers: Answer[]
}

/** A key and those it was rotated to: they share caps, idempotency and their end. */
export interface Line {
  /** The newest last; each may be used until the line is revoked. */
  readonly keys: IssuedKey[]
  revoked: 'no' | 'perhaps' | 'yes'
  /** The largest daily cap that it had, or may have had. */
  capMaxMicros: bigint
}

/** A sub-wallet, the lines of keys that its agents have, and all that they asked for. */
export interface Agent {
  readonly subWalletId: string
  readonly address: Address
  /** Of a new line, whole dollars; some run into it. */
  readonly capUsd: number
  /** The newest last. */
  readonly lines: Line[]
  readonly asked: Asked[]
}

/** What each sub-wallet is given on each chain, as the auditor reckons with it. */
export const GIVEN_USDC = 200n
export const GIVEN_NATIVE_WEI = 5n * 10n ** 18n
export const GIVEN_SHARES_USDC = 50n
const SEND_WEI = 10n ** 12n
const SEND_FACTOR_MAX = 1_000
const WIDE_CAP_USD = 1_000_000
const MICROS_PER_USD = 1_000_000n
/** Of sends and sponsored calls alike. */
const IDEMPOTENT_CHANCE = 0.5
const OLDER_KEY_CHANCE = 0.15
const ASK_AGAIN_MS = 250

/** @param tightCapUsd of every other agent's keys */
export async function createAgents(
  stack: Stack,
  count: number,
  chainIds: readonly number[],
  tightCapUsd: number,
): Promise<Agent[]> {
  const agents: Agent[] = []
  while (agents.length < count) {
    const capUsd = agents.length % 2 === 0 ? WIDE_CAP_USD : tightCapUsd
    const { subWalletId, address, key } = await newWallet(stack, { dailyUsd: String(capUsd) })
    for (const chainId of chainIds) {
      await give(stack, chainId, address, String(GIVEN_USDC), 'USDC')
      await give(stack, chainId, address, String(GIVEN_NATIVE_WEI / 10n ** 18n), 'native')
      await giveShares(stack, chainId, address)
    }
    agents.push({ subWalletId, address, capUsd, lines: [newLine(key, capUsd)], asked: [] })
  }
  return agents
}

export function newLine(key: IssuedKey, capUsd: number): Line {
  return { keys: [key], revoked: 'no', capMaxMicros: BigInt(capUsd) * MICROS_PER_USD }
}

/** Shares of the vault for so much USDC, bought by the deployer. */
async function giveShares(stack: Stack, chainId: number, to: Address): Promise<void> {
  const { usdc, vault, feeRecipient: deployer, oneUsdc } = chainOf(stack, chainId)
  const view = chainView(stack.service.dev(), chainId)
  await give(stack, chainId, deployer, String(GIVEN_SHARES_USDC), 'USDC')
  const assets = GIVEN_SHARES_USDC * oneUsdc
  const calls = [
    // approve(address,uint256), deposit(uint256,address)
    { to: usdc, data: `0x095ea7b3${word(BigInt(vault))}${word(assets)}` },
    { to: vault, data: `0x6e553f65${word(assets)}${word(BigInt(to))}` },
  ]
  for (const call of calls) {
    const receipt = await view.call('eth_sendTransactionSync', [{ from: deployer, ...call }])
    if ((receipt as { readonly status: string }).status !== '0x1') throw new Error('no shares')
  }
}

function word(value: bigint): string {
  return value.toString(16).padStart(64, '0')
}

/** Half are plain sends. Never rejects: an answer that does not come is part of the mix. */
export async function askFor(agent: Agent, random: Random, chain: MixChain): Promise<void> {
  const what = random.pick(['send', 'send', 'send', 'swap', 'deposit', 'withdraw'] as const)
  const line = newestLine(agent)
  const asked: Asked = {
    ...{ what, line, chainId: chain.view.chainId, answers: [] },
    recipient: what === 'send' ? newAddress() : null,
    amount: amountOf(what, random, chain),
    idempotencyKey: random.chance(IDEMPOTENT_CHANCE) ? randomUUID() : null,
    afterRevocation: line.revoked === 'yes',
  }
  agent.asked.push(asked)
  await ask(asked, random, chain)
}

/**
 * Asks for one send, again and again, as long as it takes: what refused everything while the faults
 * lasted must not go on with it.
 * @param agent with a cap that it does not reach
 * @returns whether it was acknowledged before the time was over
 */
export async function askUntilDone(
  agent: Agent,
  random: Random,
  chain: MixChain,
  deadlineMs: number,
): Promise<boolean> {
  const asked: Asked = {
    ...{ what: 'send', line: newestLine(agent), chainId: chain.view.chainId, answers: [] },
    ...{ recipient: newAddress(), amount: SEND_WEI, idempotencyKey: randomUUID() },
    afterRevocation: false,
  }
  agent.asked.push(asked)
  for (;;) {
    await ask(asked, random, chain)
    if (asked.answers.at(-1)?.kind === 'acknowledged') return true
    if (Date.now() > deadlineMs) return false
    await delay(ASK_AGAIN_MS)
  }
}

/** The same request once more, as callers do that got no answer; by any key of the line. */
export async function askAgain(asked: Asked, random: Random, chain: MixChain): Promise<void> {
  if (asked.idempotencyKey === null) throw new Error('it would be another request')
  await ask(asked, random, chain)
}

async function ask(asked: Asked, random: Random, chain: MixChain): Promise<void> {
  const { keys } = asked.line
  const older = random.chance(OLDER_KEY_CHANCE)
  const key = (older ? keys.at(-2) : undefined) ?? keys.at(-1)
  if (key === undefined) throw new Error('a line without keys')
  const [path, body] = requestOf(asked, chain)
  const { idempotencyKey } = asked
  const headers = idempotencyKey === null ? {} : { 'idempotency-key': idempotencyKey }
  const at = asked.answers.push({ kind: 'unknown' }) - 1
  asked.answers[at] = answerOf(await key.api.post(path, body, headers).catch(() => null))
}

export function newestLine({ lines }: Agent): Line {
  const line = lines.at(-1)
  if (line === undefined) throw new Error('an agent without keys')
  return line
}

function amountOf(what: Asked['what'], random: Random, chain: MixChain): bigint {
  // Drawn in any case, so that a seed's sequence does not depend on it.
  const factor = BigInt(1 + random.integer(SEND_FACTOR_MAX))
  if (what === 'send') return SEND_WEI * factor
  return what === 'withdraw' ? chain.halfShares : chain.halfUsdc
}

function requestOf({ what, recipient, amount, chainId }: Asked, chain: MixChain) {
  const common = { chain_id: chainId }
  const text = amount.toString()
  const { marketId: market_id } = chain
  switch (what) {
    case 'send':
      return ['/api/tx/send', { ...common, to: recipient, value: text }] as const
    case 'deposit':
      return ['/api/defi/deposit', { ...common, market_id, amount: text }] as const
    case 'withdraw':
      return ['/api/defi/withdraw', { ...common, market_id, shares: text }] as const
    case 'swap': {
      const tokens = { token_in: chain.view.usdc, token_out: chain.wrapped }
      return ['/api/swap/execute', { ...common, ...tokens, amount_in: text }] as const
    }
  }
}

/** With these the request's fate is another's: of the first of its kind, or not known. */
const OPEN_CODES: ReadonlySet<string> = new Set(['INTERNAL', 'IDEMPOTENCY_IN_PROGRESS'])

function answerOf(reply: Reply | null): Answer {
  if (reply === null) return { kind: 'unknown' }
  const { json, code, status } = reply
  if (status < 300 && json.tx_id !== undefined) return { kind: 'acknowledged', txId: json.tx_id }
  if (code === undefined || OPEN_CODES.has(code)) return { kind: 'unknown' }
  const named = json.error?.details.tx_id
  return { kind: 'refused', code, txId: typeof named === 'string' ? named : undefined }
}
