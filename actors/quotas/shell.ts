import type { UserId } from '../../src/domain/ids.js'
import type { OwnedCounts } from '../../src/store/readers/users.js'
import type { ActorShell } from '../runtime/actor.js'
import { decide, isFull, isSettled, type QuotaCommand, type QuotaState } from './core/decide.js'

interface Holder {
  readonly userId: UserId
  state: QuotaState
}

/** @param ownedCounts counts the records in the store */
export function createQuotaShell(
  ownedCounts: (userId: UserId) => OwnedCounts,
): ActorShell<Holder, QuotaCommand, never, never> {
  function counted(userId: UserId): QuotaState {
    return {
      made: { ...ownedCounts(userId) },
      reserved: { wallets: new Set(), keys: new Set(), webhooks: new Set() },
      uncertain: false,
    }
  }

  return {
    kind: 'quotas',
    load: (id) => ({ userId: id as UserId, state: counted(id as UserId) }),
    decide(holder, command, token) {
      // Counts as late as possible: a user far from the quota needs no exact count.
      if (command.type === 'reserve' && holder.state.uncertain && isFull(holder.state, command)) {
        const { reserved } = holder.state
        // A pending request may already be among the records, and counts twice until its outcome is
        // known.
        const uncertain = !isSettled(holder.state)
        holder.state = { ...counted(holder.userId), reserved, uncertain }
      }
      return decide(holder.state, command, token)
    },
    record() {},
    run() {},
    idle: ({ state }) => isSettled(state),
  }
}
