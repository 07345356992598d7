import type { Address } from '../../src/domain/ids.js'
import { give, newWallet } from '../defi/sponsored-wallet.js'
import { type ChainView, newAddress } from '../e2e/chain.js'
import { type IssuedKey, issueKey, type Stack } from '../e2e/stack.js'
import type { HttpClient, Reply } from '../support/http-client.js'
import type { seededRandom } from './random.js'

export type Random = ReturnType<typeof seededRandom>

/** A chain of the mix, asked past the proxies. */
export interface MixChain {
  readonly view: ChainView
  readonly wrapped: Address
  readonly marketId: string
  readonly halfUsdc: bigint
}

/**
 * What a caller knows: `acknowledged` names a transaction; `refused` says that nothing was done;
 * `unknown` got no answer, or one that leaves it open.
 */
export type Answer =
  | { readonly kind: 'acknowledged'; readonly txId: string }
  | { readonly kind: 'refused'; readonly code: string }
  | { readonly kind: 'unknown' }

export interface Asked {
  readonly what: 'send' | 'swap' | 'deposit'
  readonly chainId: number
  /** Of its own, so that the chain says whether it was executed; null for sponsored calls. */
  readonly recipient: Address | null
  readonly amount: bigint
  readonly keyId: string
  /** The key had been revoked, and its owner told so, before this was asked. */
  readonly afterRevocation: boolean
  answer: Answer
}

/** A sub-wallet, the keys that its agents have, and all that they asked for. */
export interface Agent {
  readonly subWalletId: string
  readonly address: Address
  key: IssuedKey
  /** All keys of it; the newest may be revoked. */
  readonly keys: Map<string, { readonly api: HttpClient; revoked: 'no' | 'perhaps' | 'yes' }>
  readonly asked: Asked[]
}

const USDC = '200'
const NATIVE = '5'
const SEND_WEI = 10n ** 12n

export async function createAgents(
  stack: Stack,
  count: number,
  chainIds: readonly number[],
): Promise<Agent[]> {
  const agents: Agent[] = []
  while (agents.length < count) {
    const { subWalletId, address, key } = await newWallet(stack)
    for (const chainId of chainIds) {
      await give(stack, chainId, address, USDC, 'USDC')
      await give(stack, chainId, address, NATIVE, 'native')
    }
    const keys: Agent['keys'] = new Map([[key.keyId, { api: key.api, revoked: 'no' }]])
    agents.push({ subWalletId, address, key, keys, asked: [] })
  }
  return agents
}

/** Two in three are plain sends. Never rejects: an answer that does not come is part of the mix. */
export async function askFor(agent: Agent, random: Random, chain: MixChain): Promise<void> {
  const pick = random.integer(6)
  const what = pick < 4 ? 'send' : pick === 4 ? 'swap' : 'deposit'
  const { key } = agent
  const recipient = what === 'send' ? newAddress() : null
  const amount = what === 'send' ? SEND_WEI : chain.halfUsdc
  const asked: Asked = {
    ...{ what, recipient, amount, chainId: chain.view.chainId, keyId: key.keyId },
    afterRevocation: agent.keys.get(key.keyId)?.revoked === 'yes',
    answer: { kind: 'unknown' },
  }
  agent.asked.push(asked)
  const [path, body] = requestOf(asked, chain)
  asked.answer = answerOf(await key.api.post(path, body).catch(() => null))
}

function requestOf({ what, recipient, amount, chainId }: Asked, chain: MixChain) {
  const common = { chain_id: chainId }
  const text = amount.toString()
  switch (what) {
    case 'send':
      return ['/api/tx/send', { ...common, to: recipient, value: text }] as const
    case 'deposit':
      return ['/api/defi/deposit', { ...common, market_id: chain.marketId, amount: text }] as const
    case 'swap': {
      const tokens = { token_in: chain.view.usdc, token_out: chain.wrapped }
      return ['/api/swap/execute', { ...common, ...tokens, amount_in: text }] as const
    }
  }
}

function answerOf(reply: Reply | null): Answer {
  if (reply === null) return { kind: 'unknown' }
  const { json, code, status } = reply
  if (status < 300 && json.tx_id !== undefined) return { kind: 'acknowledged', txId: json.tx_id }
  return code === undefined || code === 'INTERNAL' ? { kind: 'unknown' } : { kind: 'refused', code }
}

/** Creates, narrows, rotates or revokes a key. @returns what was done; null when it failed */
export async function changeKeys(
  stack: Stack,
  agent: Agent,
  random: Random,
): Promise<string | null> {
  const { keyId } = agent.key
  const held = agent.keys.get(keyId)
  if (held === undefined) throw new Error(`${keyId} is nobody's`)
  if (held.revoked !== 'no') {
    const made = await issueKey(stack, { subWalletId: agent.subWalletId }).catch(() => null)
    if (made === null) return null
    hold(agent, made)
    return 'key created'
  }
  switch (random.integer(3)) {
    case 0: {
      const body = { daily_limit_usd: String(500_000 + random.integer(1_000)) }
      const patched = await stack.owner.call('PATCH', `/keys/${keyId}`, { body }).catch(() => null)
      return patched?.status === 200 ? 'key narrowed' : null
    }
    case 1: {
      const rotated = await stack.owner.post(`/keys/${keyId}/rotate`).catch(() => null)
      const { key_id: next, secret } = rotated?.json ?? {}
      if (next === undefined || secret === undefined) return null
      hold(agent, { keyId: next, secret, api: stack.service.api(secret) })
      return 'key rotated'
    }
    default: {
      held.revoked = 'perhaps'
      const revoked = await stack.owner.post(`/keys/${keyId}/revoke`).catch(() => null)
      if (revoked?.status !== 200) return null
      held.revoked = 'yes'
      return 'key revoked'
    }
  }
}

function hold(agent: Agent, key: IssuedKey): void {
  agent.key = key
  agent.keys.set(key.keyId, { api: key.api, revoked: 'no' })
}
