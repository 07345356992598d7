import { keccak256 } from '../domain/keccak.js'
import {
  type DecodedAuthorization,
  decodeAuthorization,
  encodeAuthorization,
} from './authorization.js'
import { isZero, sameBytes } from './bytes.js'
import { PAYLOAD_TYPE, type PayloadType } from './intent.js'
import { Refusal } from './refusal.js'
import type { ChainPins } from './registry.js'
import {
  type DecodedRouterIntent,
  decodeRouterIntent,
  encodeRouterIntent,
} from './router-intent.js'
import type { SignPayload } from './sign-payload.js'
import { type DecodedTransaction, decodeTransaction, encodeTransaction } from './transaction.js'

/** The payloads that a quorum wallet signs, and no others: there is no call that signs a digest. */
export type DecodedPayload = DecodedTransaction | DecodedAuthorization | DecodedRouterIntent

export function encodePayload(payload: SignPayload): { type: PayloadType; bytes: Buffer } {
  switch (payload.type) {
    case 'transaction':
      return {
        type:
          payload.authorizationList === undefined
            ? PAYLOAD_TYPE.feeMarketTransaction
            : PAYLOAD_TYPE.setCodeTransaction,
        bytes: encodeTransaction(payload),
      }
    case 'authorization':
      return { type: PAYLOAD_TYPE.authorization, bytes: encodeAuthorization(payload) }
    case 'router-intent':
      return { type: PAYLOAD_TYPE.routerIntent, bytes: encodeRouterIntent(payload) }
  }
}

/** @throws Refusal MALFORMED or PAYLOAD_NOT_ALLOWED */
export function decodePayload(type: PayloadType, bytes: Uint8Array): DecodedPayload {
  switch (type) {
    case PAYLOAD_TYPE.feeMarketTransaction:
    case PAYLOAD_TYPE.setCodeTransaction: {
      const tx = decodeTransaction(bytes)
      if ((tx.envelope === 4) !== (type === PAYLOAD_TYPE.setCodeTransaction)) {
        throw new Refusal('MALFORMED', 'payload is of another type than the intent says')
      }
      return tx
    }
    case PAYLOAD_TYPE.authorization:
      return decodeAuthorization(bytes)
    case PAYLOAD_TYPE.routerIntent:
      return decodeRouterIntent(bytes)
  }
}

/** Returns the 32 bytes that the wallet key signs. */
export function signingHash(payload: DecodedPayload, bytes: Uint8Array): Uint8Array {
  return payload.kind === 'router-intent' ? payload.digest : keccak256(bytes)
}

/**
 * The same for bytes that the other domains decoded and judged.
 * @throws Refusal MALFORMED
 */
export function digestOf(type: PayloadType, bytes: Uint8Array): Uint8Array {
  return type === PAYLOAD_TYPE.routerIntent ? decodeRouterIntent(bytes).digest : keccak256(bytes)
}

/**
 * Checks what holds for every payload: a chain of the registry, delegations only to our delegate,
 * only our Router, and fees and gas limits below their ceilings. No registry has chain id 0, so an
 * authorization valid on every chain is refused.
 * @throws Refusal PAYLOAD_NOT_ALLOWED
 */
export function checkPins(payload: DecodedPayload, chains: ReadonlyMap<number, ChainPins>): void {
  const pins = chains.get(payload.chainId)
  if (pins === undefined) throw new Refusal('PAYLOAD_NOT_ALLOWED', 'chain not in the registry')
  switch (payload.kind) {
    case 'transaction':
      if (payload.maxFeePerGasWei > pins.maxFeePerGasWei) {
        throw new Refusal('PAYLOAD_NOT_ALLOWED', 'fee above the ceiling')
      }
      if (payload.gasLimit > pins.maxGasLimit) {
        throw new Refusal('PAYLOAD_NOT_ALLOWED', 'gas limit above the ceiling')
      }
      for (const authorization of payload.authorizations) {
        if (authorization.chainId !== payload.chainId) {
          throw new Refusal('PAYLOAD_NOT_ALLOWED', 'authorization for another chain')
        }
        checkDelegate(authorization.delegate, pins)
      }
      return
    case 'authorization':
      checkDelegate(payload.delegate, pins)
      return
    case 'router-intent':
      if (pins.router === null || !sameBytes(payload.router, pins.router)) {
        throw new Refusal('PAYLOAD_NOT_ALLOWED', 'not our Router')
      }
  }
}

function checkDelegate(delegate: Uint8Array, pins: ChainPins): void {
  if (isZero(delegate)) return
  if (pins.delegate === null || !sameBytes(delegate, pins.delegate)) {
    throw new Refusal('PAYLOAD_NOT_ALLOWED', 'not our delegate')
  }
}
