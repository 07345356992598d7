import type { KeyId } from '../../src/domain/ids.js'
import type { ActorShell } from '../runtime/actor.js'

/** The front end collects when keys were used, and sends this once a minute. */
export interface KeyUseCommand {
  readonly type: 'keys-used'
  readonly uses: readonly KeyUse[]
}

export interface KeyUse {
  readonly keyId: KeyId
  readonly atMs: number
}

export function createKeyUseShell(): ActorShell<null, KeyUseCommand, KeyUse, never> {
  return {
    kind: 'key-use',
    load: () => null,
    decide(_state, { uses }, token) {
      const replies = token === null ? [] : [{ token, result: { ok: true as const, value: null } }]
      return { events: uses, effects: [], replies }
    },
    record(writer, _state, uses) {
      for (const { keyId, atMs } of uses) writer.putKeyUse(keyId, atMs)
    },
    run() {},
    idle: () => true,
  }
}
