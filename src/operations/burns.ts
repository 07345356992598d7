import { NATIVE_TOKEN } from '../domain/chains.js'
import { ERC20_TRANSFER, ERC20_TRANSFER_FROM } from '../domain/erc20-transfer.js'
import { type Address, type Hex, ZERO_ADDRESS } from '../domain/ids.js'
import { type Fault, fault } from '../errors/fault.js'

/**
 * Spec silent: a send to an address that nobody can control, or of a token to its own contract, is
 * nearly always an agent's mistake and cannot be undone, so it needs `allow_burn: true`. It is
 * refused as INVALID_REQUEST because the call contradicts itself, whatever the caps and policies
 * allow.
 */

interface BurnCall {
  readonly to: Address
  readonly data: Hex
  readonly allowBurn: boolean
}

/**
 * @returns the refusal of a call that would burn what it sends without `allow_burn`; null otherwise
 */
export function burnFault({ to, data, allowBurn }: BurnCall): Fault | null {
  if (allowBurn) return null
  const sent = lostAt(to, null)
  if (sent !== null) return refusalOf('to', sent)
  const recipient = recipientOf(data)
  if (recipient === null) return null
  const moved = lostAt(recipient, to)
  return moved === null ? null : refusalOf('data', moved)
}

/** @param token the transferred token; null for native currency or a call */
function lostAt(recipient: string, token: Address | null): string | null {
  const key = recipient.toLowerCase()
  if (key === ZERO_ADDRESS) return 'the zero address, which nobody owns'
  if (key === NATIVE_TOKEN.toLowerCase()) {
    return '0xEeee…EEeE, which stands for native currency and which nobody owns'
  }
  if (key === token?.toLowerCase()) return "the token's own contract, which cannot give it back"
  return null
}

const SELECTOR_END = 10
const WORD_DIGITS = 64
const ADDRESS_DIGITS = 40

/** The recipient of an ERC-20 `transfer` or `transferFrom`; null for every other call. */
function recipientOf(data: Hex): string | null {
  const selector = data.slice(0, SELECTOR_END).toLowerCase()
  const place = selector === ERC20_TRANSFER ? 0 : selector === ERC20_TRANSFER_FROM ? 1 : null
  if (place === null) return null
  const end = SELECTOR_END + (place + 1) * WORD_DIGITS
  return data.length < end ? null : `0x${data.slice(end - ADDRESS_DIGITS, end)}`
}

function refusalOf(path: 'to' | 'data', where: string): Fault {
  const message = `The call sends to ${where}. Nothing was sent. To burn it on purpose, repeat the request with allow_burn: true.`
  return fault('INVALID_REQUEST', { issues: [{ path, message: `sends to ${where}` }] }, message)
}
