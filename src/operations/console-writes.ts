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
 * What only takes away goes on: it writes little, and is most wanted when something is wrong. Of
 * what may do either, the call decides: a key that is left with no more than it had, an entry of
 * addresses that blocks, an entry removed that allowed. What is not the caller's own is refused alike.
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
 * What may give somebody more than they had, lasts for a time, or moves value: it is not begun by a
 * clock that may be wrong. What else is written there can be undone as it was done.
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

/** Why something is not done now, or null; asked for each call. */
export interface ConsoleStops {
  /**
   * Not even what takes away: another start of the service has the wallets, so that what is done
   * here counts nowhere.
   */
  readonly everything: () => Fault | null
  readonly whatWrites: () => Fault | null
  readonly whatGives: () => Fault | null
}

type Handler = (context: ConsoleContext, input: never) => Answer<unknown> | Promise<Answer<unknown>>

/** The same handlers; those that write refuse while there is a reason to. */
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
      // It may have been taken over only now, and an answer would promise what nobody keeps.
      const since = answer.ok ? stops.everything() : null
      return since === null ? answer : { ok: false, fault: since }
    }
  }
  return guarded as unknown as ConsoleHandlers
}
