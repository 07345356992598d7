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
  /**
   * No more connections are taken with that many descriptors open in this process, or with that many
   * connections where the adapter counts them itself. Default: as many as the system gives.
   */
  readonly descriptorsMax?: number
  /** Called when connections begin to be turned away, and when they are accepted again. */
  readonly onFull?: (isFull: boolean) => void
}

export const NO_NATIVE_BUILD = `uWebSockets.js has no native build for Node ${process.version} on ${process.platform} ${process.arch}`

/** The adapter that `auto` gives. */
export function usualAdapter(): AdapterName {
  return loadNative() === null ? 'node:http' : 'uWebSockets.js'
}

/** @throws Error when the native adapter is asked for and there is no build of it */
export function createApp(options: AppOptions = {}): App {
  const { adapter = 'auto', descriptorsMax = Number.POSITIVE_INFINITY, onFull = () => {} } = options
  const native = adapter === 'node' ? null : loadNative()
  if (native !== null) return createNativeApp(native, { descriptorsMax, onFull })
  if (adapter === 'native') {
    throw new Error(`${NO_NATIVE_BUILD}; without COUNTERSIGN_HTTP_ADAPTER node:http serves`)
  }
  return createNodeApp({ connectionsMax: descriptorsMax, onFull })
}
