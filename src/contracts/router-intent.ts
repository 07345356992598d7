import type { TypedDataDefinition } from 'viem'
import {
  bytesToHex,
  decodeFunctionData,
  encodeFunctionData,
  hashTypedData,
  keccak256,
  parseAbi,
} from 'viem/utils'
import type { Approval } from '../domain/approval.js'
import type { Call } from '../domain/call.js'
import type { Address, Hex } from '../domain/ids.js'
import type { IntentTerms } from '../domain/sponsored-terms.js'
import type { CoSignature } from '../domain/sponsorship.js'
import agentRouter from './generated/agent-router.json' with { type: 'json' }
import { ROUTER_DOMAIN, ROUTER_INTENT_FIELDS, type RouterIntent } from './router-intent-type.js'

/** Encodes intents for their signers and for the Router. Field meanings: `router-intent-type.ts`. */
const TYPES = { Intent: ROUTER_INTENT_FIELDS } as const

/**
 * Records keep the signed calldata. Routers before `changeCoSigners` had one co-signer, and so no
 * key in it; the part before the co-signature is the same.
 */
const EXECUTIONS = [
  ...agentRouter.abi,
  ...parseAbi([
    'struct Intent { address account; address tokenIn; uint256 amountIn; uint16 feeBps; address tokenOut; uint256 minOut; address target; uint256 nonce; uint48 deadline; bytes32 dataHash; }',
    'struct UserSignature { bytes32 r; bytes32 vs; }',
    'struct CoSignature { bytes32 r; bytes32 s; }',
    'function execute(Intent intent, bytes data, UserSignature userSignature, CoSignature coSignature)',
  ]),
] as const

/** EIP-712 typed data of an intent for one Router on one chain. */
export function routerIntentTypedData(
  chainId: number,
  router: Address,
  intent: RouterIntent,
): TypedDataDefinition<typeof TYPES, 'Intent'> {
  return {
    domain: { ...ROUTER_DOMAIN, chainId, verifyingContract: router },
    types: TYPES,
    primaryType: 'Intent',
    message: intent,
  }
}

/**
 * The 32-byte EIP-712 digest. The account signs it with secp256k1; the co-signer signs it as a
 * message with ECDSA P-256 and SHA-256, normalised to low s.
 */
export function routerIntentDigest(chainId: number, router: Address, intent: RouterIntent): Hex {
  return hashTypedData(routerIntentTypedData(chainId, router, intent))
}

/**
 * Calldata of `AgentRouter.execute`.
 * @param userSignature 65 bytes r ‖ s ‖ v, where v is 0, 1, 27 or 28
 * @throws RangeError when a signature or key has another length or recovery id
 */
export function encodeExecute(
  intent: RouterIntent,
  userSignature: Uint8Array,
  coSignature: CoSignature,
): Hex {
  const { data, ...terms } = intent
  return encodeFunctionData({
    abi: agentRouter.abi,
    functionName: 'execute',
    args: [
      { ...terms, dataHash: keccak256(data) },
      data,
      compactSignature(userSignature),
      splitCoSignature(coSignature),
    ],
  })
}

/** Calldata of `AgentRouter.cancel`, sent by the account itself or by a relayer. */
export function encodeCancel(account: Address, nonce: bigint): Hex {
  return encodeFunctionData({
    abi: agentRouter.abi,
    functionName: 'cancel',
    args: [account, nonce],
  })
}

/** @param calldata of `execute`, as `encodeExecute` returns it */
export function intentNonceOf(calldata: Hex): bigint {
  return executed(calldata).intent.nonce
}

/**
 * The terms that the Router executes.
 * @param calldata of `execute`, as `encodeExecute` returns it
 */
export function intentTermsOf(calldata: Hex): IntentTerms {
  const { intent, data } = executed(calldata)
  const { tokenIn, amountIn, feeBps, tokenOut, minOut, target } = intent
  return { tokenIn, amountIn, feeBps, tokenOut, minOut, target, data }
}

/**
 * The terms of a sponsored call that may not be signed: before that its record has no intent, but
 * its approval has the terms.
 * @returns null when there was no approval either
 */
export function knownTermsOf(
  { data }: Pick<Call, 'data'>,
  approval: Pick<Approval, 'sponsored'> | null,
): IntentTerms | null {
  try {
    return intentTermsOf(data)
  } catch {
    return approval?.sponsored?.terms ?? null
  }
}

/**
 * Unix seconds.
 * @param calldata of `execute`, as `encodeExecute` returns it
 */
export function intentDeadlineOf(calldata: Hex): number {
  return executed(calldata).intent.deadline
}

function executed(calldata: Hex) {
  const { functionName, args } = decodeFunctionData({ abi: EXECUTIONS, data: calldata })
  if (functionName !== 'execute') throw new Error('not the calldata of an execution')
  const [intent, data] = args
  return { intent, data }
}

/** EIP-2098: the recovery bit moves into the top bit of s, which low-s signatures leave free. */
function compactSignature(signature: Uint8Array): { r: Hex; vs: Hex } {
  if (signature.length !== 65) throw new RangeError('user signature must be 65 bytes')
  const v = signature[64] ?? -1
  const yParity = v >= 27 ? v - 27 : v
  if (yParity !== 0 && yParity !== 1) throw new RangeError('recovery id must be 0, 1, 27 or 28')
  const vs = signature.slice(32, 64)
  const top = vs[0] ?? 0
  if (top >= 0x80) throw new RangeError('user signature must have a low s')
  vs[0] = top | (yParity << 7)
  return { r: bytesToHex(signature.subarray(0, 32)), vs: bytesToHex(vs) }
}

function splitCoSignature({ publicKey, signature }: CoSignature) {
  if (signature.length !== 64) throw new RangeError('co-signature must be 64 bytes')
  if (publicKey.length !== 65) throw new RangeError('co-signer key must be 65 bytes')
  return {
    x: bytesToHex(publicKey.subarray(1, 33)),
    y: bytesToHex(publicKey.subarray(33)),
    r: bytesToHex(signature.subarray(0, 32)),
    s: bytesToHex(signature.subarray(32)),
  }
}
