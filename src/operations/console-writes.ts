import {
  type ConsoleInput,
  type ConsoleOperationName,
  consoleOperations,
} from '../api/console-operations.js'
import { toChecksumAddress } from '../api/parse-address.js'
import type { KeyId } from '../domain/ids.js'
import type { Fault } from '../errors/fault.js'
import type { Reader } from '../store/reader.js'
import { enlargesKey } from './console/keys.js'
import type { Answer, ConsoleContext, ConsoleHandlers } from './context.js'

interface Records {
  readonly fresh: () => unknown
  readonly keys: Pick<Reader['keys'], 'byId'>
  readonly users: Pick<Reader['users'], 'addressRules'>
}

type TakesAway = {
  readonly [Name in ConsoleOperationName]?: (
    records: Records,
    context: ConsoleContext,
    input: ConsoleInput<Name>,
  ) => boolean
}

/**
 * Writes that only take something away continue: they write little, and are most needed when
 * something is wrong. If an operation may do either, the call decides: a key left with no more than
 * it had, an address rule that blocks, a removed rule that allowed. A call about another user's
 * record is refused alike.
 */
const TAKES_AWAY: TakesAway = {
  freeze: () => true,
  decline_call: () => true,
  remove_member: () => true,
  leave_account: () => true,
  decline_invitation: () => true,
  cancel_transaction: () => true,
  revoke_key: () => true,
  delete_webhook: () => true,
  patch_key(records, { userId }, input) {
    const key = records.keys.byId(input.key_id as KeyId)
    return key !== undefined && key.userId === userId && !enlargesKey(key, input)
  },
  put_address_rule: (_records, _context, { action }) => action === 'block',
  delete_address_rule(records, { userId }, input) {
    const address = toChecksumAddress(input.address)
    const rule = records.users.addressRules(userId).find((known) => known.address === address)
    return rule?.action === 'allow'
  },
}

/**
 * Operations that may give somebody more than they had, last for a time, or move value. They do not
 * begin while the clock may be wrong. Other writes can be undone in the same way.
 */
const GIVES: ReadonlySet<ConsoleOperationName> = new Set([
  'create_key',
  'patch_key',
  'rotate_key',
  'put_address_rule',
  'delete_address_rule',
  'revoke_allowances',
  'approve_call',
  'invite_member',
  'change_member',
  'accept_invitation',
  'unfreeze',
])

/** Why an operation is stopped now, or null; called for each call. */
export interface ConsoleStops {
  /**
   * Stops even operations that take away: another start of the service has the wallets, so nothing
   * done here has an effect.
   */
  readonly everything: () => Fault | null
  readonly whatWrites: () => Fault | null
  readonly whatGives: () => Fault | null
}

type Handler = (context: ConsoleContext, input: never) => Answer<unknown> | Promise<Answer<unknown>>

/** The same handlers; those that write are refused while there is a reason. */
export function stopConsoleWrites(
  handlers: ConsoleHandlers,
  stops: ConsoleStops,
  records: Records,
): ConsoleHandlers {
  const guarded: Record<string, Handler> = { ...handlers }
  for (const { name, method } of consoleOperations) {
    if (method === 'GET') continue
    const handler: Handler = handlers[name]
    const gives = GIVES.has(name)
    const takesAway: ((records: Records, context: ConsoleContext, input: never) => boolean) | null =
      TAKES_AWAY[name] ?? null
    guarded[name] = async (context, input) => {
      const elsewhere = stops.everything()
      if (elsewhere !== null) return { ok: false, fault: elsewhere }
      const reason = stops.whatWrites() ?? (gives ? stops.whatGives() : null)
      if (reason !== null) {
        records.fresh()
        if (takesAway?.(records, context, input) !== true) return { ok: false, fault: reason }
      }
      const answer = await handler(context, input)
      // The service may have been taken over during the call; its answer would then promise
      // something that is lost.
      const since = answer.ok ? stops.everything() : null
      return since === null ? answer : { ok: false, fault: since }
    }
  }
  return guarded as unknown as ConsoleHandlers
}
