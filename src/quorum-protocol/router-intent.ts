import {
  ROUTER_DOMAIN,
  ROUTER_FEE_BPS_MAX,
  ROUTER_INTENT_TYPE,
  type RouterIntent,
} from '../contracts/router-intent-type.js'
import type { Hex } from '../domain/ids.js'
import { keccak256 } from '../domain/keccak.js'
import { ByteReader, concat, u16, u64, u256 } from './bytes.js'
import { Refusal } from './refusal.js'
import type { RouterIntentPayload } from './sign-payload.js'
import { fromHex } from './transaction.js'

/**
 * The AgentRouter's intent on the wire between the domains:
 * ```
 * chain id 8 | Router 20 | account 20 | token in 20 | amount in 32 | fee bps 2 | token out 20
 *   | min out 32 | target 20 | nonce 32 | deadline 8 (s) | data
 * ```
 * Each domain builds the EIP-712 digest from these fields itself.
 */
export interface DecodedRouterIntent {
  readonly kind: 'router-intent'
  readonly chainId: number
  readonly router: Uint8Array
  readonly account: Uint8Array
  readonly tokenIn: Uint8Array
  /** 32 bytes, big-endian. */
  readonly amountIn: Uint8Array
  readonly feeBps: number
  readonly tokenOut: Uint8Array
  /** 32 bytes, big-endian. */
  readonly minOut: Uint8Array
  /** The venue and its calldata. */
  readonly target: Uint8Array
  readonly data: Uint8Array
  /** 32 bytes, big-endian. */
  readonly nonce: Uint8Array
  readonly deadlineSeconds: number
  /** 32 bytes, EIP-712. */
  readonly digest: Uint8Array
}

const DOMAIN_TYPE =
  'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)'
const DOMAIN_TYPE_HASH = hashText(DOMAIN_TYPE)
const NAME_HASH = hashText(ROUTER_DOMAIN.name)
const VERSION_HASH = hashText(ROUTER_DOMAIN.version)
const INTENT_TYPE_HASH = hashText(ROUTER_INTENT_TYPE)
const UINT48_END = 2 ** 48

export function encodeRouterIntent(payload: RouterIntentPayload): Buffer {
  const intent: RouterIntent = payload.intent
  return concat(
    u64(payload.chainId),
    address(payload.verifyingContract),
    address(intent.account),
    address(intent.tokenIn),
    u256(intent.amountIn),
    u16(intent.feeBps),
    address(intent.tokenOut),
    u256(intent.minOut),
    address(intent.target),
    u256(intent.nonce),
    u64(intent.deadline),
    fromHex(intent.data),
  )
}

/** @throws Refusal MALFORMED */
export function decodeRouterIntent(bytes: Uint8Array): DecodedRouterIntent {
  const reader = new ByteReader(bytes)
  const chainId = reader.u64()
  const router = reader.take(20)
  const account = reader.take(20)
  const tokenIn = reader.take(20)
  const amountIn = reader.take(32)
  const feeBps = reader.u16()
  const tokenOut = reader.take(20)
  const minOut = reader.take(32)
  const target = reader.take(20)
  const nonce = reader.take(32)
  const deadlineSeconds = reader.u64()
  const data = reader.rest()
  if (feeBps > ROUTER_FEE_BPS_MAX || deadlineSeconds >= UINT48_END) {
    throw new Refusal('MALFORMED', 'router intent out of range')
  }
  const struct = keccak256(
    concat(
      INTENT_TYPE_HASH,
      word(account),
      word(tokenIn),
      amountIn,
      u256(BigInt(feeBps)),
      word(tokenOut),
      minOut,
      word(target),
      nonce,
      u256(BigInt(deadlineSeconds)),
      keccak256(data),
    ),
  )
  const domain = keccak256(
    concat(DOMAIN_TYPE_HASH, NAME_HASH, VERSION_HASH, u256(BigInt(chainId)), word(router)),
  )
  const digest = keccak256(concat(Buffer.of(0x19, 0x01), domain, struct))
  return {
    kind: 'router-intent',
    chainId,
    router,
    account,
    tokenIn,
    amountIn,
    feeBps,
    tokenOut,
    minOut,
    target,
    data,
    nonce,
    deadlineSeconds,
    digest,
  }
}

function hashText(text: string): Uint8Array {
  return keccak256(Buffer.from(text, 'utf8'))
}

function address(hex: Hex): Buffer {
  const bytes = fromHex(hex)
  if (bytes.length !== 20) throw new RangeError('address must have 20 bytes')
  return bytes
}

/** Encodes an address as an ABI word, left-padded to 32 bytes. */
function word(bytes: Uint8Array): Buffer {
  return concat(Buffer.alloc(12), bytes)
}
