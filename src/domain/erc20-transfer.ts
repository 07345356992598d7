import type { Address, Hex } from './ids.js'

/** `transfer(address,uint256)` */
export const ERC20_TRANSFER = '0xa9059cbb'
/** `transferFrom(address,address,uint256)` */
export const ERC20_TRANSFER_FROM = '0x23b872dd'

const SELECTOR_END = 2 + 8
const WORD_DIGITS = 64
const ADDRESS_DIGITS = 40
const ERC20_TRANSFER_LENGTH = SELECTOR_END + 2 * WORD_DIGITS
const ERC20_TRANSFER_FROM_LENGTH = SELECTOR_END + 3 * WORD_DIGITS

/** Whether calldata is an ERC-20 transfer without trailing bytes. */
export function isErc20Transfer(data: Hex): boolean {
  return data.length === ERC20_TRANSFER_LENGTH && data.startsWith(ERC20_TRANSFER)
}

interface TokenMove {
  /** The account whose tokens it moves, lower-case. */
  readonly payer: string
  /** In smallest units. */
  readonly amount: bigint
}

/**
 * @returns what a `transfer` or `transferFrom` without trailing bytes moves; null for other calls
 */
export function tokenMoveOf(from: Address, data: Hex): TokenMove | null {
  if (isErc20Transfer(data)) return { payer: from.toLowerCase(), amount: lastWord(data) }
  if (data.length !== ERC20_TRANSFER_FROM_LENGTH || !data.startsWith(ERC20_TRANSFER_FROM)) {
    return null
  }
  const end = SELECTOR_END + WORD_DIGITS
  const payer = `0x${data.slice(end - ADDRESS_DIGITS, end).toLowerCase()}`
  return { payer, amount: lastWord(data) }
}

function lastWord(data: Hex): bigint {
  return BigInt(`0x${data.slice(-WORD_DIGITS)}`)
}
