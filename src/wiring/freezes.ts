import type { AuthenticatedKey } from '../auth/api-key.js'
import { followInstanceFreeze, instanceFreezePath } from '../custody/instance-freeze.js'
import type { Freezing } from '../domain/freeze.js'
import { createFreezeBook } from '../domain/freeze-book.js'
import { ok, type Result } from '../errors/fault.js'
import { frozenFault } from '../errors/frozen.js'
import type { Reader } from '../store/reader.js'

/**
 * The freezes of one thread, from the store and from the operator's file.
 * @param changed called when the operator froze the instance or lifted the freeze
 */
export function openFreezes(
  home: string,
  reader: Reader,
  changed: (freezing: Freezing | null) => void = () => {},
) {
  const instance = followInstanceFreeze(instanceFreezePath(home, 'service'), changed)
  const book = createFreezeBook(reader.freezes.all(), instance.current)
  return {
    book,
    /** Adds the freeze that refuses a caller's calls that move value. */
    noted(caller: Result<AuthenticatedKey>): Result<AuthenticatedKey> {
      const frozen = caller.ok ? book.freezeOf(caller.value.key) : null
      if (!caller.ok || frozen === null) return caller
      return ok({ ...caller.value, frozen: frozenFault(frozen) })
    },
    close: instance.close,
  }
}
