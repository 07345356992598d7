import { createApiKeyAuthenticator, isSecret } from '../auth/api-key.js'
import { createKeyUseRecorder, type KeyUse } from '../auth/key-use.js'
import { createRateLimiter, FAILED_AUTHENTICATION_POLICY, keyPolicy } from '../auth/rate-limit.js'
import { createUnverifiedTokens } from '../auth/unverified-tokens.js'
import type { ServiceClock } from '../clock/service-clock.js'
import type { Timers } from '../clock/timers.js'
import type { Config } from '../config/env.js'
import { type Cell, hasPartition, partitionOfSecret } from '../domain/cells.js'
import type { KeyId } from '../domain/ids.js'
import { ofAnotherCell } from '../errors/another-cell.js'
import { refuse } from '../errors/fault.js'
import { deriveProofKey } from '../service-custody/key-proof.js'
import type { Reader } from '../store/reader.js'
import type { openFreezes } from '../wiring/freezes.js'

interface CallersOptions {
  readonly reader: Reader
  readonly config: Pick<Config, 'environment' | 'requestsPerSecond'>
  /** The cell whose users' keys this node stores. */
  readonly cell: Cell
  readonly freezes: Pick<ReturnType<typeof openFreezes>, 'noted'>
  readonly clock: ServiceClock
  readonly timers: Timers
  readonly recordUses: (uses: readonly KeyUse[]) => Promise<{ readonly ok: boolean }>
}

/** This node stores no key of another cell, so it cannot tell whether such a key exists. */
function isOwn(header: string, cell: Cell): boolean {
  return !isSecret(header) || hasPartition(cell, partitionOfSecret(header))
}

/**
 * Authenticates the callers of REST and MCP, limits their rates and records when each key was last
 * used.
 */
export function openCallers({
  reader,
  config,
  cell,
  freezes,
  clock,
  timers,
  recordUses,
}: CallersOptions) {
  const uses = createKeyUseRecorder({ write: recordUses, nowMs: clock.nowMs })
  const keys = createApiKeyAuthenticator({
    reader: {
      byHash(hash) {
        return reader.fresh().keys.byHash(hash) ?? null
      },
      byId: (id) => reader.keys.byId(id) ?? null,
    },
    environment: config.environment,
    deriveProofKey,
    nowMs: clock.latestMs,
    saw: uses.saw,
  })
  const nowMs = timers.elapsed
  return {
    /** Checks a caller that presents an API key, over REST or MCP. */
    byKey: {
      authenticate(header: string) {
        const found = keys.authenticate(header)
        return found.ok || isOwn(header, cell) ? freezes.noted(found) : refuse(ofAnotherCell())
      },
      rateLimit: createRateLimiter({ policy: keyPolicy(config.requestsPerSecond), nowMs }),
      failedAuthentications: createRateLimiter({ policy: FAILED_AUTHENTICATION_POLICY, nowMs }),
    },
    unverifiedTokens: createUnverifiedTokens({ nowMs }),
    /** Drops the cached entry of a key. */
    forgetKey: (secretHash: string) => keys.invalidate(secretHash),
    lastUsedAtMs: (keyId: KeyId) => uses.lastUsedAtMs(keyId) ?? reader.keys.lastUsedAtMs(keyId),
    /** Writes the uses that are not stored yet. */
    close: () => uses.close(),
    clear: () => keys.clear(),
  }
}
