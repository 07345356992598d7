import type { ChainAccess } from '../chains/access.js'
import type { TokenConfig } from '../config/chains.js'
import { wordAt } from '../contracts/abi-words.js'
import { isErc20Transfer } from '../domain/erc20-transfer.js'
import type { Address } from '../domain/ids.js'
import { addressOf, argumentWord, digitsOf } from './calldata.js'
import type { Worth } from './price-book.js'
import type { Movement, QuotedCall } from './quoter.js'

/** The two calls whose effect is known without a simulation; nearly all that agents send. */
export type PlainTransfer =
  | { readonly kind: 'native' }
  | {
      readonly kind: 'erc20'
      readonly token: TokenConfig
      /** In smallest units. */
      readonly amount: bigint
    }

/**
 * @returns null for every other call; `unknown` while it is unknown whether the recipient of native
 * currency has code
 */
export function plainTransferOf(
  chain: ChainAccess,
  call: QuotedCall,
): PlainTransfer | 'unknown' | null {
  const { data, value, to } = call
  if (data === '0x') {
    const code = chain.reads.cachedCode(to)
    if (code === null) return 'unknown'
    return code.kind === 'none' ? { kind: 'native' } : null
  }
  if (value !== 0n || !isErc20Transfer(data)) return null
  const address = to.toLowerCase()
  const token = chain.config.tokens.find((it) => it.address.toLowerCase() === address)
  // Without a configured limit the gas has to be estimated each time; a simulation costs no more,
  // and shows a fee on top of the amount.
  if (token === undefined || token.transfer_gas_limit === null) return null
  const amount = wordAt(`0x${data.slice(10)}`, 1)
  return amount === null ? null : { kind: 'erc20', token, amount: BigInt(`0x${amount}`) }
}

/** The movement of a plain transfer, used when no node can show it. */
export function movementOf(
  call: QuotedCall,
  transfer: PlainTransfer,
  valueMicros: Worth,
): Movement {
  const { from, to, value, data } = call
  if (transfer.kind === 'native') {
    return { token: null, from, to, amount: value, kind: 'native', valueMicros }
  }
  const token = transfer.token.address as Address
  const recipient = addressOf(argumentWord(digitsOf(data), 0, 0))
  return { token, from, to: recipient, amount: transfer.amount, kind: 'erc20', valueMicros }
}
