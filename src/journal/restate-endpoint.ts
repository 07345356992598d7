import { createServer, type Http2Session } from 'node:http2'
import type * as Sdk from '@restatedev/restate-sdk'
import { OBJECTS, type ObjectName, type Operation, SealBroken } from './restate-frames.js'
import { answerSealed, READING } from './restate-requests.js'
import type { ObjectState } from './restate-state.js'

export interface EndpointOptions {
  readonly host: string
  readonly port: number
  /** What requests and replies are sealed with. */
  readonly key: Uint8Array
  /** Of the cluster: requests that it did not sign are refused. None: whoever reaches it is heard. */
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
 * A handler that is away is waited for, each second: while it is, nothing of the partition goes on. One
 * that fails for minutes fails for good, as on state of another build: it is given up, which is safe,
 * and not kept for people to look at, which would hold up all that comes after it.
 */
const RETRIES: Sdk.RetryPolicy = {
  initialInterval: 100,
  exponentiationFactor: 1.5,
  maxInterval: 1_000,
  maxAttempts: 300,
  onMaxAttempts: 'kill',
}

/** A handler computes for milliseconds, and waits for Restate alone: one that does not is frozen. */
const INACTIVE_MS = 5_000
const ABORT_MS = 5_000

/** Answers Restate for the partitions of the journal until it is closed. */
export async function serveRestateEndpoint(options: EndpointOptions): Promise<Endpoint> {
  const { host, port, key, identityKeys, log } = options
  const sdk = await loadSdk()
  const listener = sdk.createEndpointHandler({
    services: (Object.keys(OBJECTS) as ObjectName[]).map((name) => objectNamed(sdk, name, key)),
    identityKeys: [...identityKeys],
    // Without what it says besides: the requests, which hold bodies, are in there.
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
      // What is under way is asked for again: it is whole or nothing.
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
      // Of a partition there may be gigabytes, of which a handler needs kilobytes.
      enableLazyState: true,
      // An answer is for whoever waits for it now: later the same question may have another.
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
    // Its own promises, which its types do not say, and its own way of waiting for several.
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

/** Here alone, so that nobody without such a journal needs the package. */
async function loadSdk(): Promise<typeof Sdk> {
  // Node 20 has none, and the SDK calls it: its requests would hang.
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
