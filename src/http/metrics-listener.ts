import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { Listener } from './app.js'
import { httpStatusOf, type Readiness } from './health-routes.js'
import { type AdapterChoice, createApp } from './uws.js'
import { answerWhole } from './whole-answer.js'

/**
 * Serves `/metrics`, and `/readyz` with its reasons, on a separate port, so that network rules decide who may
 * read them, and the public port does not show the service's state.
 */
export function listenForMetrics(options: {
  readonly host: string
  /** 0 picks a free one. */
  readonly port: number
  readonly registry: Registry
  /** Metrics kept outside the registry, each in the text format. */
  readonly expositions: readonly (() => string)[]
  /** None by default, as for the identity provider. */
  readonly readiness?: () => Readiness
  readonly logger: Logger
  /** Defaults to `auto`. */
  readonly adapter?: AdapterChoice
  /** As in `AppOptions`. */
  readonly descriptorsMax?: number
}): Promise<Listener> {
  const { registry, expositions, logger, readiness, adapter = 'auto' } = options
  const { descriptorsMax = Number.POSITIVE_INFINITY } = options
  const app = createApp({ adapter, descriptorsMax })
  app.get('/metrics', (response) => {
    let aborted = false
    response.onAborted(() => {
      aborted = true
    })
    void registry.metrics().then(
      (own) => {
        if (aborted) return
        const text = [own, '\n', ...expositions.map((render) => render())].join('')
        response.cork(() => {
          response.writeHeader('Content-Type', registry.contentType).end(text)
        })
      },
      (error: unknown) => {
        logger.error({ err: error }, 'metrics could not be collected')
        if (aborted) return
        response.cork(() => response.writeStatus('500 Internal Server Error').endWithoutBody())
      },
    )
  })
  if (readiness !== undefined) {
    app.get('/readyz', (response) => {
      const found = readiness()
      answerWhole(response, httpStatusOf(found), found)
    })
  }
  app.any('/*', (response) => {
    response.writeStatus('404 Not Found').end()
  })
  return app.listen(options.host, options.port)
}
