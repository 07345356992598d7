import { useInfiniteQuery, useQuery } from '@tanstack/preact-query'
import { call, type Output } from '../api.js'

export type Webhook = Output<'GET', '/api/v1/agent/webhooks'>['webhooks'][number]
export type EventType = NonNullable<Webhook['events']>[number]

/** More than any user may have. */
const ALL_ROWS = 100
const PAGE_ROWS = 25

export function useWebhooks() {
  return useQuery({
    queryKey: ['/api/v1/agent/webhooks'],
    queryFn: () => call('GET', '/api/v1/agent/webhooks', { limit: ALL_ROWS }),
  })
}

export function useDeliveries(webhookId: string) {
  return useInfiniteQuery({
    queryKey: ['/api/v1/agent/webhooks', webhookId, 'deliveries'],
    queryFn: ({ pageParam }) =>
      call('GET', '/api/v1/agent/webhooks/:webhook_id/deliveries', {
        webhook_id: webhookId,
        limit: PAGE_ROWS,
        ...(pageParam === null ? {} : { cursor: pageParam }),
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
  })
}
