import { useInfiniteQuery } from '@tanstack/preact-query'
import { call, type Input } from '../api.js'

export type AuditFilter = Omit<Input<'GET', '/api/v1/agent/audit'>, 'limit' | 'cursor'>

const PAGE_ROWS = 50

export function useAudit(filter: AuditFilter) {
  return useInfiniteQuery({
    queryKey: ['/api/v1/agent/audit', filter],
    queryFn: ({ pageParam }) => readAuditPage(filter, pageParam, PAGE_ROWS),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
  })
}

export function readAuditPage(filter: AuditFilter, cursor: string | null, limit: number) {
  return call('GET', '/api/v1/agent/audit', {
    ...filter,
    limit,
    ...(cursor === null ? {} : { cursor }),
  })
}
