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

type Handler = (context: ConsoleContext, input: never) => Answer<unknown> | Promise<Answer<unknown>>

/**
 * The same handlers; those that write refuse while there is a reason to, but for what takes away.
 * @param stopped why nothing may be written now, or null; asked for each call
 */
export function stopConsoleWrites(
  handlers: ConsoleHandlers,
  stopped: () => Fault | null,
  records: Records,
): ConsoleHandlers {
  const guarded: Record<string, Handler> = { ...handlers }
  for (const { name, method } of consoleOperations) {
    if (method === 'GET') continue
    const handler: Handler = handlers[name]
    const takesAway: ((records: Records, context: ConsoleContext, input: never) => boolean) | null =
      TAKES_AWAY[name] ?? null
    guarded[name] = (context, input) => {
      const reason = stopped()
      if (reason === null) return handler(context, input)
      records.fresh()
      const goesOn = takesAway?.(records, context, input) === true
      return goesOn ? handler(context, input) : { ok: false, fault: reason }
    }
  }
  return guarded as unknown as ConsoleHandlers
}
