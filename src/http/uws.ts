import type { AdapterName, App } from './app.js'
import { createNativeApp, loadNative } from './native-uws.js'
import { createNodeApp } from './node-http/node-app.js'

/**
 * The seam to HTTP servers: uWebSockets.js where it has a native build for this platform and
 * version of Node, else `node:http`.
 */

/** What may be asked for; `auto` takes the native one where it can. */
export type AdapterChoice = 'auto' | 'native' | 'node'

export interface AppOptions {
  /** Default `auto`. */
  readonly adapter?: AdapterChoice
  /** Connections open at once; more are closed as they come. Default: as many as the system gives. */
  readonly connectionsMax?: number
  /** Told when connections begin to be turned away, and when they are taken again. */
  readonly onFull?: (isFull: boolean) => void
}

export const NO_NATIVE_BUILD = `uWebSockets.js has no native build for Node ${process.version} on ${process.platform} ${process.arch}`

/** The adapter that `auto` gives. */
export function usualAdapter(): AdapterName {
  return loadNative() === null ? 'node:http' : 'uWebSockets.js'
}

/** @throws Error when the native adapter is asked for and there is no build of it */
export function createApp(options: AppOptions = {}): App {
  const { adapter = 'auto', connectionsMax = Number.POSITIVE_INFINITY, onFull = () => {} } = options
  const native = adapter === 'node' ? null : loadNative()
  if (native !== null) return createNativeApp(native, { connectionsMax, onFull })
  if (adapter === 'native') {
    throw new Error(`${NO_NATIVE_BUILD}; without COUNTERSIGN_HTTP_ADAPTER node:http serves`)
  }
  return createNodeApp({ connectionsMax, onFull })
}
