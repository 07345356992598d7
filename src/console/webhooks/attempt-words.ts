import type { Output } from '../api.js'

export type Delivery = Output<
  'GET',
  '/api/v1/agent/webhooks/:webhook_id/deliveries'
>['deliveries'][number]
type Attempt = Delivery['attempts'][number]

/** The result of an attempt: `204 in 12 ms`. */
export function describeAttempt({ status, error, duration_ms }: Attempt): string {
  const answer = status === null ? 'no answer' : String(status)
  return `${answer} in ${duration_ms} ms${error === null ? '' : `: ${error}`}`
}
