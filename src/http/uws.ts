import uWS from 'uWebSockets.js'

/**
 * The seam to uWebSockets.js: nothing else imports the package, so that another build of it (see
 * the README) is one line here.
 */
export type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js'

/** Two listeners never share the port: the default, SO_REUSEPORT, would split traffic unseen. */
const LISTEN_EXCLUSIVE = 1

export interface Listener {
  /** The port that was bound, also when 0 was asked for. */
  readonly port: number
  /** Stops accepting; connections that are open stay open. */
  close(): void
}

/** Drops the header by which the package tells its name and version to everybody. */
uWS._cfg('silent')

export function createApp(): uWS.TemplatedApp {
  return uWS.App()
}

/**
 * Binds `host` and `port` (0 picks a free one).
 * @throws Error when the address cannot be bound
 */
export function listen(app: uWS.TemplatedApp, host: string, port: number): Promise<Listener> {
  return new Promise((resolve, reject) => {
    // The package's types lack the form with host and options; its native side takes it.
    const bind = app.listen.bind(app) as unknown as (
      host: string,
      port: number,
      options: number,
      done: (socket: uWS.us_listen_socket | false) => void,
    ) => void
    bind(host, port, LISTEN_EXCLUSIVE, (socket) => {
      if (socket === false) {
        reject(new Error(`cannot listen on ${host}:${port}; is the port taken?`))
        return
      }
      resolve({
        port: uWS.us_socket_local_port(socket as unknown as uWS.us_socket),
        close: () => uWS.us_listen_socket_close(socket),
      })
    })
  })
}
