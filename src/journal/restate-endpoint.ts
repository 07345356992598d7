import { createServer, type Http2Session } from 'node:http2'
import type * as Sdk from '@restatedev/restate-sdk'
import { OBJECTS, type ObjectName, type Operation, SealBroken } from './restate-frames.js'
import { answerSealed, READING } from './restate-requests.js'
import type { ObjectState } from './restate-state.js'

export interface EndpointOptions {
  readonly host: string
  readonly port: number
  /** The key with which requests and replies are sealed. */
  readonly key: Uint8Array
  /**
   * Keys of the cluster; requests that it did not sign are refused. If empty, any client that
   * reaches this endpoint is served.
   */
  readonly identityKeys: readonly string[]
  readonly log: {
    warn(context: object, message: string): void
  }
}

export interface Endpoint {
  readonly port: number
  close(): Promise<void>
}

/**
 * Restate retries a missing handler every second, and the partition stands still until it is back.
 * A handler that fails for minutes fails permanently, for example on the state of another build. It
 * is then ended, which is safe, and not kept for inspection, which would block everything after it.
 */
const RETRIES: Sdk.RetryPolicy = {
  initialInterval: 100,
  exponentiationFactor: 1.5,
  maxInterval: 1_000,
  maxAttempts: 300,
  onMaxAttempts: 'kill',
}

/**
 * A handler computes for milliseconds and waits only for Restate, so one that takes longer is
 * frozen.
 */
const INACTIVE_MS = 5_000
const ABORT_MS = 5_000

/** Answers Restate for the partitions of the journal until it is closed. */
export async function serveRestateEndpoint(options: EndpointOptions): Promise<Endpoint> {
  const { host, port, key, identityKeys, log } = options
  const sdk = await loadSdk()
  const listener = sdk.createEndpointHandler({
    services: (Object.keys(OBJECTS) as ObjectName[]).map((name) => objectNamed(sdk, name, key)),
    identityKeys: [...identityKeys],
    // The SDK's further arguments contain requests with their bodies, so they are not logged.
    logger({ level, context }, message) {
      if (level !== 'warn' && level !== 'error') return
      log.warn({ target: context?.invocationTarget }, `Restate's SDK: ${String(message)}`)
    },
  })
  const sessions = new Set<Http2Session>()
  const server = createServer(listener)
  server.on('session', (session) => {
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve())
  })
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    async close() {
      const ended = new Promise((resolve) => server.close(resolve))
      // Restate repeats requests under way; each has all of its effects or none.
      for (const session of sessions) session.destroy()
      await ended
    },
  }
}

function objectNamed(sdk: typeof Sdk, name: ObjectName, key: Uint8Array) {
  const { serde, handlers } = sdk
  const bytes = { input: serde.binary, output: serde.binary, accept: 'application/octet-stream' }
  const answers =
    (operation: Operation) => async (context: Sdk.ObjectSharedContext, sealed: Uint8Array) => {
      try {
        const state = stateOf(sdk, context as Sdk.ObjectContext)
        return await answerSealed(key, operation, context.key, state, sealed)
      } catch (error) {
        if (!(error instanceof SealBroken)) throw error
        throw new sdk.TerminalError(error.message, { errorCode: 403 })
      }
    }
  const named = OBJECTS[name].map((operation) => [
    operation,
    READING.has(operation)
      ? handlers.object.shared(bytes, answers(operation))
      : handlers.object.exclusive(bytes, answers(operation)),
  ])
  return sdk.object({
    name,
    handlers: Object.fromEntries(named),
    options: {
      // A partition may have gigabytes of state, of which a handler needs kilobytes.
      enableLazyState: true,
      // An answer is for the caller that waits now; later the same request may have another.
      idempotencyRetention: 0,
      journalRetention: 0,
      inactivityTimeout: INACTIVE_MS,
      abortTimeout: ABORT_MS,
      retryPolicy: RETRIES,
    },
  })
}

function stateOf({ serde, RestatePromise }: typeof Sdk, context: Sdk.ObjectContext): ObjectState {
  return {
    // These are Restate's own promises, although its types do not tell so, with its own way to wait
    // for several.
    async get(names) {
      const [name] = names
      if (name === undefined) return []
      if (names.length === 1) return [await context.get(name, serde.binary)]
      const values = names.map((each) => context.get(each, serde.binary))
      return RestatePromise.all(values as Sdk.RestatePromise<Uint8Array | null>[])
    },
    set: (name, value) => context.set(name, value, serde.binary),
    clear: (name) => context.clear(name),
    clearAll: () => context.clearAll(),
  }
}

/** Loaded here only, so that a service without such a journal does not need the package. */
async function loadSdk(): Promise<typeof Sdk> {
  // Node 20 lacks this function, which the SDK calls; without it requests would hang.
  const promises = Promise as unknown as { withResolvers?: () => unknown }
  promises.withResolvers ??= withResolvers
  try {
    return await import('@restatedev/restate-sdk')
  } catch (cause) {
    throw new Error(
      'a handler for Restate needs the package @restatedev/restate-sdk: npm install @restatedev/restate-sdk',
      { cause },
    )
  }
}

function withResolvers() {
  let resolve: unknown
  let reject: unknown
  const promise = new Promise((resolves, rejects) => {
    resolve = resolves
    reject = rejects
  })
  return { promise, resolve, reject }
}
