import type { Call } from '../domain/call.js'
import type { Address } from '../domain/ids.js'
import type { TxKind } from '../domain/transaction.js'
import { showCall } from './call-shown.js'

/**
 * The addresses that a call pays or allows to spend, as breakers count them. The actor that decides, the actor after
 * a restart, and the commands that recompute trips from the records all count by this module.
 */

/** The part of a stored call that tells its payees. */
interface PayingCall {
  readonly kind: TxKind
  readonly call: Call
  /** The result of `shownPayeesOf`; absent when it is empty. */
  readonly shownPayees?: readonly Address[]
}

/** Bounds the record of one call. Breakers are set to far fewer new payees. */
export const SHOWN_PAYEES_MAX = 256

const NOBODY: readonly Address[] = []

/**
 * Addresses in lower case, each once: those that the bytes of a send name, or its callee if they cannot be decoded,
 * and those that its simulation showed. Sponsored calls pay the wallet itself, as their intents say.
 */
export function payeesOf({ kind, call, shownPayees = NOBODY }: PayingCall): readonly Address[] {
  if (kind !== 'send') return NOBODY
  const named = namedBy(call)
  return shownPayees.length === 0 && named.length < 2
    ? named
    : [...new Set([...named, ...shownPayees])]
}

/**
 * @param recipients addresses that the simulation of a send showed to be paid or allowed to spend
 * @returns in lower case those of them that `payeesOf` does not find in the call itself
 */
export function shownPayeesOf(
  { kind, call }: Pick<PayingCall, 'kind' | 'call'>,
  recipients: readonly { readonly address: Address }[],
): readonly Address[] {
  if (kind !== 'send' || recipients.length === 0) return NOBODY
  const named = new Set(namedBy(call))
  const shown = new Set(recipients.map(({ address }) => address.toLowerCase() as Address))
  return [...shown].filter((one) => !named.has(one)).slice(0, SHOWN_PAYEES_MAX)
}

function namedBy(call: Call): readonly Address[] {
  return (
    showCall({ operation: 'send', ...call }).beneficiaries ?? [call.to.toLowerCase() as Address]
  )
}
