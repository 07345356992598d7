import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider'
import type { ArtifactKey, LoginStore } from './login-store.js'

/** oidc-provider accepts an artifact this long after its expiry (its default clock tolerance). */
export const CLOCK_TOLERANCE_SECONDS = 15
/**
 * The bound of artifacts per model. Anyone can start a login, so strangers decide how many
 * interactions there are; past the bound, those that expire first make room.
 */
const ARTIFACTS_PER_MODEL_MAX = 20_000
/** The models revoked with a grant. An interaction names a grant too, but outlives it. */
const GRANT_BOUND_MODELS = new Set(['AuthorizationCode', 'AccessToken', 'RefreshToken'])
/** Artifacts without an expiry of their own (none of the enabled models) still end. */
const DEFAULT_LIFE_SECONDS = 24 * 3_600
/** Ids come from cookies and query strings; generated ones have 43 characters or fewer. */
const ID_LENGTH_MAX = 128
const SWEEP_INTERVAL_MS = 60_000
/** The bound of one transaction; a longer backlog waits for the next sweep. */
const SWEEP_BATCH_MAX = 2_000

export interface ArtifactStore {
  readonly adapter: AdapterFactory
  /**
   * Signs a person out everywhere, within the caller's transaction. Everything issued with a
   * session ends with it.
   */
  endSessionsOf(accountId: string): void
  /**
   * Removes expired artifacts.
   * @returns how many were removed
   */
  sweep(nowMs: number): Promise<number>
  close(): void
}

/** Persists oidc-provider's sessions, grants, codes and interactions in LMDB. */
export function createArtifactStore(store: LoginStore): ArtifactStore {
  const countByModel = new Map<string, number>()
  for (const [model] of store.artifactExpiry.getKeys()) adjustCount(model, 1)

  function adjustCount(model: string, by: 1 | -1): void {
    countByModel.set(model, (countByModel.get(model) ?? 0) + by)
  }

  /** Removes an artifact and all its index entries, within the caller's transaction. */
  function remove([model, id]: ArtifactKey): void {
    const record = store.artifacts.get([model, id])
    if (record === undefined) return
    const { uid, grantId } = record.payload
    void store.artifacts.remove([model, id])
    void store.artifactExpiry.remove([model, record.expiresAtMs, id])
    if (uid !== undefined && store.sessionIdByUid.get(uid) === id)
      void store.sessionIdByUid.remove(uid)
    if (grantId !== undefined) void store.grantMembers.remove([grantId, model, id])
    adjustCount(model, -1)
  }

  function makeRoom(model: string): void {
    const excess = (countByModel.get(model) ?? 0) - ARTIFACTS_PER_MODEL_MAX + 1
    if (excess <= 0) return
    const range = { start: [model], end: [model, Number.MAX_VALUE], limit: excess }
    for (const [, , id] of [...store.artifactExpiry.getKeys(range)]) remove([model, id])
  }

  function endSessionsOf(accountId: string): void {
    const sessions = { start: ['Session'], end: ['Session', '\uffff'] }
    const ended = [...store.artifacts.getRange(sessions)].filter(
      ({ value }) => value.payload.accountId === accountId,
    )
    for (const { key } of ended) remove(key)
  }

  function find(model: string, id: string): AdapterPayload | undefined {
    if (id.length > ID_LENGTH_MAX) return undefined
    const record = store.artifacts.get([model, id])
    return record === undefined || record.expiresAtMs <= Date.now() ? undefined : record.payload
  }

  function adapter(model: string): Adapter {
    return {
      async upsert(id, payload, expiresIn) {
        const lifeSeconds = (expiresIn ?? DEFAULT_LIFE_SECONDS) + CLOCK_TOLERANCE_SECONDS
        const expiresAtMs = Date.now() + lifeSeconds * 1_000
        await store.root.transaction(() => {
          remove([model, id])
          makeRoom(model)
          void store.artifacts.put([model, id], { payload, expiresAtMs })
          void store.artifactExpiry.put([model, expiresAtMs, id], true)
          if (model === 'Session' && payload.uid !== undefined) {
            void store.sessionIdByUid.put(payload.uid, id)
          }
          if (GRANT_BOUND_MODELS.has(model) && payload.grantId !== undefined) {
            void store.grantMembers.put([payload.grantId, model, id], true)
          }
          adjustCount(model, 1)
        })
      },
      async find(id) {
        return find(model, id)
      },
      async findByUid(uid) {
        const id = uid.length > ID_LENGTH_MAX ? undefined : store.sessionIdByUid.get(uid)
        return id === undefined ? undefined : find(model, id)
      },
      // The device flow is not enabled, so no artifact has a user code.
      async findByUserCode() {
        return undefined
      },
      async consume(id) {
        await store.root.transaction(() => {
          const record = store.artifacts.get([model, id])
          if (record === undefined) return
          const consumed = Math.floor(Date.now() / 1_000)
          void store.artifacts.put([model, id], {
            ...record,
            payload: { ...record.payload, consumed },
          })
        })
      },
      async destroy(id) {
        await store.root.transaction(() => remove([model, id]))
      },
      async revokeByGrantId(grantId) {
        if (grantId.length > ID_LENGTH_MAX) return
        await store.root.transaction(() => {
          const range = { start: [grantId], end: [grantId, '￿'] }
          for (const [, memberModel, id] of [...store.grantMembers.getKeys(range)]) {
            remove([memberModel, id])
          }
        })
      },
    }
  }

  async function sweep(nowMs: number): Promise<number> {
    return store.root.transaction(() => {
      let removed = 0
      for (const model of countByModel.keys()) {
        const range = { start: [model], end: [model, nowMs], limit: SWEEP_BATCH_MAX - removed }
        for (const [, , id] of [...store.artifactExpiry.getKeys(range)]) {
          remove([model, id])
          removed++
        }
      }
      return removed
    })
  }

  const timer = setInterval(() => void sweep(Date.now()).catch(() => undefined), SWEEP_INTERVAL_MS)
  timer.unref()
  return { adapter, endSessionsOf, sweep, close: () => clearInterval(timer) }
}
