import { createRequire } from 'node:module'
import type { App, HttpResponse } from './app.js'
import { listenBounded, type OpenPort } from './bounded-listener.js'

/**
 * Loads uWebSockets.js; nothing else loads the package. Its native build is loaded by name, because
 * without one the package's own entry returns a JavaScript substitute that throws at the first
 * request.
 */
type Native = typeof import('uWebSockets.js')

const PACKAGE = 'uWebSockets.js'
const require = createRequire(import.meta.url)

/** Undefined before the first attempt. */
let loaded: Native | null | undefined

/** @returns null if there is no build for this platform and version of Node */
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
    // Omits the header by which the package tells everybody its name and version.
    native._cfg('silent')
    return native
  } catch {
    return null
  }
}

interface NativeAppOptions {
  /** The number of the process's open descriptors at which no more connections are accepted. */
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

/** One call for all headers, because each call crosses into native code. */
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
    // The package's types lack the form with host and options, which its native code accepts.
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

/**
 * Two listeners must not share the port; the default, SO_REUSEPORT, would split traffic unnoticed.
 */
const LISTEN_EXCLUSIVE = 1
