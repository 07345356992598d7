import type { Hex } from '../domain/ids.js'
import { keccak256 } from '../domain/keccak.js'
import { viewOf } from './bytes.js'
import { Refusal } from './refusal.js'
import { bytesItem, countItem, decodeRlp, integerItem, listItem, type RlpItem } from './rlp.js'
import { appendToEnvelope, encodeEnvelope, encodeRlp, type RlpValue } from './rlp-encode.js'
import type { SignedAuthorization, TransactionPayload } from './sign-payload.js'

/** EIP-1559 (0x02) and EIP-7702 (0x04) transactions, unsigned and signed, in canonical RLP. */
export interface DecodedTransaction {
  readonly kind: 'transaction'
  readonly envelope: 2 | 4
  readonly chainId: number
  readonly nonce: number
  /** 20 bytes; contract creation is refused. */
  readonly to: Uint8Array
  /** Wei. */
  readonly value: bigint
  readonly data: Uint8Array
  readonly gasLimit: bigint
  readonly maxFeePerGasWei: bigint
  readonly maxPriorityFeePerGasWei: bigint
  readonly authorizations: readonly DecodedListedAuthorization[]
  /** The RLP of each authorization, including its signature. */
  readonly encodedAuthorizations: readonly Uint8Array[]
}

/** A signed EIP-7702 authorization inside a type-4 transaction. */
interface DecodedListedAuthorization {
  readonly chainId: number
  /** 20 bytes. */
  readonly delegate: Uint8Array
  readonly nonce: number
}

/** Gas prices fit 128 bits with room to spare; the nonce ledger stores them at that width. */
const FEE_BYTES_MAX = 16
/** The bound of authorizations in one type-4 transaction. */
const AUTHORIZATIONS_MAX = 16

export function encodeTransaction(tx: TransactionPayload): Buffer {
  const list = tx.authorizationList
  const fields: RlpValue[] = [
    tx.chainId,
    tx.nonce,
    tx.maxPriorityFeePerGas,
    tx.maxFeePerGas,
    tx.gasLimit,
    tx.to,
    tx.value,
    tx.data,
    [],
  ]
  if (list !== undefined) fields.push(list.map(authorizationFields))
  return encodeEnvelope(list === undefined ? 2 : 4, fields)
}

/** @throws Refusal MALFORMED; PAYLOAD_NOT_ALLOWED for access lists */
export function decodeTransaction(bytes: Uint8Array): DecodedTransaction {
  const envelope = bytes[0]
  if (envelope !== 2 && envelope !== 4) throw new Refusal('MALFORMED', 'transaction type')
  const fields = listItem(decodeRlp(bytes.subarray(1)), envelope === 2 ? 9 : 10)
  if (listItem(fields[8]).length > 0) throw new Refusal('PAYLOAD_NOT_ALLOWED', 'access list')
  const maxPriorityFeePerGasWei = integerItem(fields[2], FEE_BYTES_MAX)
  const maxFeePerGasWei = integerItem(fields[3], FEE_BYTES_MAX)
  if (maxPriorityFeePerGasWei > maxFeePerGasWei) throw new Refusal('MALFORMED', 'fees')
  return {
    kind: 'transaction',
    envelope,
    chainId: countItem(fields[0]),
    nonce: countItem(fields[1]),
    to: bytesItem(fields[5], 20),
    value: integerItem(fields[6], 32),
    data: bytesItem(fields[7]),
    gasLimit: integerItem(fields[4], 8),
    maxFeePerGasWei,
    maxPriorityFeePerGasWei,
    authorizations: envelope === 4 ? decodeAuthorizations(fields[9]) : [],
    encodedAuthorizations: envelope === 4 ? listItem(fields[9]).map((item) => encodeRlp(item)) : [],
  }
}

function decodeAuthorizations(item: RlpItem | undefined): DecodedListedAuthorization[] {
  const list = listItem(item)
  if (list.length === 0 || list.length > AUTHORIZATIONS_MAX) {
    throw new Refusal('MALFORMED', 'authorization list length')
  }
  return list.map((entry) => {
    const fields = listItem(entry, 6)
    const yParity = countItem(fields[3])
    if (yParity > 1) throw new Refusal('MALFORMED', 'authorization parity')
    integerItem(fields[4], 32)
    integerItem(fields[5], 32)
    return {
      chainId: countItem(fields[0]),
      delegate: bytesItem(fields[1], 20),
      nonce: countItem(fields[2]),
    }
  })
}

function authorizationFields(authorization: SignedAuthorization): RlpValue {
  return [
    authorization.chainId,
    authorization.address,
    authorization.nonce,
    authorization.yParity,
    BigInt(authorization.r),
    BigInt(authorization.s),
  ]
}

/** @param signature 65 bytes r ‖ s ‖ yParity */
export function signedTransaction(
  unsigned: Uint8Array,
  signature: Uint8Array,
): { rawTransaction: Hex; txHash: Hex } {
  const raw = appendToEnvelope(unsigned, [
    signature[64] === 1 ? 1 : 0,
    trimmed(signature, 0, 32),
    trimmed(signature, 32, 64),
  ])
  return { rawTransaction: toHex(raw), txHash: toHex(keccak256(raw)) }
}

/** Returns an integer of the signature without its leading zeros. */
function trimmed(bytes: Uint8Array, from: number, to: number): Uint8Array {
  let start = from
  while (start < to && bytes[start] === 0) start++
  return bytes.subarray(start, to)
}

export function fromHex(hex: Hex): Buffer {
  return Buffer.from(hex.slice(2), 'hex')
}

export function toHex(bytes: Uint8Array): Hex {
  return `0x${viewOf(bytes).toString('hex')}`
}
