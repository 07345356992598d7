import { setTimeout as delay } from 'node:timers/promises'
import type { App, Listener, Serve } from './app.js'
import { createWaitingRoom, WAITING_BOUNDS, type WaitingBounds } from './waiting-room.js'

/**
 * The listener of a service. It is bound when the routes exist, or earlier by a successor. In
 * between, requests are held.
 */
export interface FrontDoor {
  readonly app: App
  /**
   * Binds the port as soon as it is released, and holds requests.
   * @throws Error if it is not released in time
   */
  listenEarly(host: string, port: number, patienceMs: number): Promise<void>
  /**
   * Binds the port and answers every request with `serve` until the routes exist, including held
   * ones.
   */
  answerEarly(host: string, port: number, serve: Serve): Promise<void>
  /** For a port that was bound early: accepts no more connections. */
  stopEarly(): void
  /**
   * From now on requests go to the routes.
   * @param register registers all routes, including one of `any` for `/*`
   * @throws Error if the address cannot be bound
   */
  open(host: string, port: number, register: (app: App) => void): Promise<Listener>
}

/** How long callers may be refused between two services, plus the time of a bind. */
const BIND_EVERY_MS = 5
const EVERYTHING = '/*'
const ANY_ADDRESS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** @param bounds of what waits at once; defaults to what a service may meet */
export function createFrontDoor(app: App, bounds: Partial<WaitingBounds> = {}): FrontDoor {
  let early: Listener | null = null
  let openRoom = (_port: number): void => undefined
  /** The target of `/*`; a registered pattern cannot be registered again. */
  let rest: Serve | null = null
  let registered = false

  function serveEverything(serve: Serve): void {
    if (rest === null) app.any(EVERYTHING, (response, request) => rest?.(response, request))
    rest = serve
  }
  const switched: App = {
    ...app,
    any(path, serve) {
      if (path === EVERYTHING && rest !== null) rest = serve
      else app.any(path, serve)
    },
  }

  return {
    app: switched,
    async listenEarly(host, port, patienceMs) {
      const room = createWaitingRoom({ ...WAITING_BOUNDS, ...bounds })
      serveEverything(room.serve)
      openRoom = (at) => room.open(ANY_ADDRESS[host] ?? host, at)
      const deadlineMs = performance.now() + patienceMs
      while (early === null) {
        try {
          early = await app.listen(host, port)
        } catch (error) {
          if (performance.now() > deadlineMs) throw error
          await delay(BIND_EVERY_MS)
        }
      }
    },
    async answerEarly(host, port, serve) {
      serveEverything(serve)
      early ??= await app.listen(host, port)
      openRoom(early.port)
    },
    stopEarly: () => early?.close(),
    async open(host, port, register) {
      // Routes stay registered after an attempt that failed because the port was in use.
      if (!registered) register(switched)
      registered = true
      const listener = early ?? (await app.listen(host, port))
      openRoom(listener.port)
      return listener
    },
  }
}
