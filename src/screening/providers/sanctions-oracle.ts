/**
 * Mirrors an on-chain sanctions oracle with Chainalysis' interface from its events, so that
 * screening needs no node. Base has a contract of its own; the others share one address.
 */
import { ADDRESS_BYTES, addressTextAt } from '../set/address-bytes.js'
import { hasAddressPadding, readIndex, WORD_BYTES } from '../walk/words.js'

/** `SanctionedAddressesAdded(address[])` */
export const ADDED_TOPIC = '0x2596d7dd6966c5673f9c06ddb0564c4f0e6d8d206ea075b83ad9ddd71a4fb927'
/** `SanctionedAddressesRemoved(address[])` */
export const REMOVED_TOPIC = '0x32aab684eee99db715515d1a9987a8fe33bb6341b0e35e60db7eab48a08f9a3a'

export interface OracleLog {
  readonly topics: readonly string[]
  /** 0x-prefixed ABI encoding of `address[]`. */
  readonly data: string
  readonly blockNumber: number
  readonly logIndex: number
}

export interface OracleState {
  /** Lower-case addresses. */
  readonly sanctioned: ReadonlySet<string>
  /** Every log up to this block is included; continue after it. -1 before the first. */
  readonly throughBlock: number
}

export const EMPTY_ORACLE: OracleState = { sanctioned: new Set(), throughBlock: -1 }

/**
 * Applies the logs of the blocks after `state.throughBlock` up to `throughBlock`, in any order.
 * Pass only blocks that will not be reorganised.
 * @throws RangeError when a log lies outside those blocks or does not decode
 */
export function applyOracleLogs(
  state: OracleState,
  logs: readonly OracleLog[],
  throughBlock: number,
): OracleState {
  const sanctioned = new Set(state.sanctioned)
  const ordered = [...logs].sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
  for (const log of ordered) {
    if (log.blockNumber <= state.throughBlock || log.blockNumber > throughBlock) {
      throw new RangeError(`a log of block ${log.blockNumber} is out of order`)
    }
    const [topic] = log.topics
    if (topic === ADDED_TOPIC) for (const entry of addressesOf(log.data)) sanctioned.add(entry)
    if (topic === REMOVED_TOPIC) for (const entry of addressesOf(log.data)) sanctioned.delete(entry)
  }
  return { sanctioned, throughBlock }
}

function addressesOf(data: string): readonly string[] {
  const bytes = Buffer.from(data.slice(2), 'hex')
  if (bytes.length < 2 * WORD_BYTES || readIndex(bytes, 0) !== WORD_BYTES) throw undecodable()
  const count = readIndex(bytes, WORD_BYTES)
  if (count < 0 || count > bytes.length / WORD_BYTES - 2) throw undecodable()
  return Array.from({ length: count }, (_, i) => {
    const at = (i + 2) * WORD_BYTES
    if (!hasAddressPadding(bytes, at)) throw undecodable()
    return addressTextAt(bytes, at + WORD_BYTES - ADDRESS_BYTES)
  })
}

function undecodable(): RangeError {
  return new RangeError('a log of the oracle does not decode')
}
