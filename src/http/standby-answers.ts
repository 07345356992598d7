import { errorBody } from '../api/error-body.js'
import { CATALOGUE } from '../errors/catalogue.js'
import { fault } from '../errors/fault.js'
import type { Serve } from './app.js'
import { type PartReport, shownToAll } from './health-routes.js'
import { newRequestId } from './request-id.js'
import { answerWhole } from './whole-answer.js'

const STANDBY = fault(
  'WRITES_STOPPED',
  { reason: 'standby' },
  'This service is a standby and answers nothing: another one serves.',
)
const RETRY: readonly (readonly [string, string])[] = [['Retry-After', '1']]

/**
 * A standby without a link answers that it lives, that it is not ready and how far behind it is;
 * every other request gets the answer that another node serves. Its view would be slightly outdated
 * and would lack a caller's own writes.
 */
export function standbyAnswers(journal: () => PartReport): Serve {
  return (response, request) => {
    const path = request.getUrl()
    if (path === '/healthz') answerWhole(response, 200, { status: 'ok' })
    else if (path === '/readyz') {
      const parts = { journal: shownToAll(journal()) }
      answerWhole(response, 503, { status: 'not_ready', draining: false, parts })
    } else refuseAll(response, request)
  }
}

/** Answers a request that another node forwarded because it took this one for the leader. */
export const refuseAll: Serve = (response) => {
  const { status } = CATALOGUE[STANDBY.code]
  const requestId = newRequestId()
  answerWhole(response, status, errorBody(STANDBY, requestId), RETRY, requestId)
}
