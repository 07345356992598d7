import { createRequire } from 'node:module'
import type { App, HttpResponse } from './app.js'
import { listenBounded, type OpenPort } from './bounded-listener.js'

/**
 * uWebSockets.js: nothing else loads the package. Its native build is loaded by name, since the
 * package's own entry takes a substitute in JavaScript where there is none, and that one throws at
 * the first request.
 */
type Native = typeof import('uWebSockets.js')

const PACKAGE = 'uWebSockets.js'
const require = createRequire(import.meta.url)

/** Undefined until it was tried. */
let loaded: Native | null | undefined

/** @returns null when there is no build for this platform and version of Node */
export function loadNative(): Native | null {
  if (loaded === undefined) loaded = load()
  return loaded
}

function load(): Native | null {
  const { platform, arch, versions } = process
  try {
    const native: Native = require(
      `${PACKAGE}/binaries/uws_${platform}_${arch}_${versions.modules}.node`,
    )
    // Drops the header by which the package tells its name and version to everybody.
    native._cfg('silent')
    return native
  } catch {
    return null
  }
}

export interface NativeAppOptions {
  /** Descriptors of the process open at which no more connections are taken. */
  readonly descriptorsMax: number
  readonly onFull: (isFull: boolean) => void
}

export function createNativeApp(native: Native, options: NativeAppOptions): App {
  const { descriptorsMax: openMax, onFull } = options
  const app = native.App()
  return {
    adapter: 'uWebSockets.js',
    get: (path, serve) => app.get(path, serve),
    head: (path, serve) => app.head(path, serve),
    post: (path, serve) => app.post(path, serve),
    patch: (path, serve) => app.patch(path, serve),
    put: (path, serve) => app.put(path, serve),
    del: (path, serve) => app.del(path, serve),
    options: (path, serve) => app.options(path, serve),
    any: (path, serve) => app.any(path, serve),
    writeHeaders: writeAtOnce,
    listen: (host, port) =>
      listenBounded({ bind: (at) => bind(native, app, host, at), port, openMax, onFull }),
  }
}

/** Each call crosses into native code, which writes what it is given: one for all of them. */
function writeAtOnce(response: HttpResponse, name: string, value: string): void {
  response.writeHeader(name, value)
}

function bind(
  native: Native,
  app: ReturnType<Native['App']>,
  host: string,
  port: number,
): Promise<OpenPort> {
  return new Promise((resolve, reject) => {
    // The package's types lack the form with host and options; its native side takes it.
    const listen = app.listen.bind(app) as unknown as (
      host: string,
      port: number,
      options: number,
      done: (socket: import('uWebSockets.js').us_listen_socket | false) => void,
    ) => void
    listen(host, port, LISTEN_EXCLUSIVE, (socket) => {
      if (socket === false) {
        reject(new Error(`cannot listen on ${host}:${port}; is the port taken?`))
        return
      }
      resolve({
        port: native.us_socket_local_port(socket as unknown as import('uWebSockets.js').us_socket),
        close: () => native.us_listen_socket_close(socket),
      })
    })
  })
}

/** Two listeners never share the port: the default, SO_REUSEPORT, would split traffic unseen. */
const LISTEN_EXCLUSIVE = 1
