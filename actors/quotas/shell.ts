import type { UserId } from '../../src/domain/ids.js'
import type { OwnedCounts } from '../../src/store/readers/users.js'
import type { ActorShell } from '../runtime/actor.js'
import { decide, isFull, isSettled, type QuotaCommand, type QuotaState } from './core/decide.js'

interface Holder {
  readonly userId: UserId
  state: QuotaState
}

/** @param ownedCounts as the store has them now */
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
      // Late: whoever is far from the quota has nothing counted.
      if (command.type === 'reserve' && holder.state.uncertain && isFull(holder.state, command)) {
        const { reserved } = holder.state
        // What is being made may be among them already, and counts twice until it is settled.
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
