import type { Address, Hex } from '../domain/ids.js'

/** The terms in which policies describe calls. */

/** The kinds of transactions (`TxKind`). */
export const OPERATIONS = ['send', 'swap', 'defi_deposit', 'defi_withdraw', 'gas_swap'] as const
export type Operation = (typeof OPERATIONS)[number]

export type Token = Address | 'native'

/** A call's selector as it is written in logs and policies; `native` for no calldata. */
export type Selector = Hex | 'native'

/** A decimal, an address in lower case, bytes in lower-case hex, or a bool. */
export type ArgumentValue = string | boolean
