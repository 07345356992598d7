import type { AdapterName, App } from './app.js'
import { createNativeApp, loadNative } from './native-uws.js'
import { createNodeApp } from './node-http/node-app.js'

/**
 * Selects the HTTP server: uWebSockets.js if it has a native build for this platform and version of
 * Node, otherwise `node:http`.
 */

/** The choices; `auto` uses the native adapter if it can. */
export type AdapterChoice = 'auto' | 'native' | 'node'

export interface AppOptions {
  /** Defaults to `auto`. */
  readonly adapter?: AdapterChoice
  /**
   * No more connections are accepted with this many open descriptors in the process, or this many
   * connections if the adapter counts them itself. Defaults to what the system allows.
   */
  readonly descriptorsMax?: number
  /** Called when connections begin to be refused, and when they are accepted again. */
  readonly onFull?: (isFull: boolean) => void
}

export const NO_NATIVE_BUILD = `uWebSockets.js has no native build for Node ${process.version} on ${process.platform} ${process.arch}`

/** The adapter that `auto` selects. */
export function usualAdapter(): AdapterName {
  return loadNative() === null ? 'node:http' : 'uWebSockets.js'
}

/** @throws Error if the native adapter is requested and has no build */
export function createApp(options: AppOptions = {}): App {
  const { adapter = 'auto', descriptorsMax = Number.POSITIVE_INFINITY, onFull = () => {} } = options
  const native = adapter === 'node' ? null : loadNative()
  if (native !== null) return createNativeApp(native, { descriptorsMax, onFull })
  if (adapter === 'native') throw new Error(NO_NATIVE_BUILD)
  return createNodeApp({ connectionsMax: descriptorsMax, onFull })
}
