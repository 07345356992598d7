import { useInfiniteQuery, useQuery } from '@tanstack/preact-query'
import { call } from '../api.js'

const PAGE_ROWS = 50

export function useScreeningLists() {
  return useQuery({
    queryKey: ['/api/v1/agent/lists'],
    queryFn: () => call('GET', '/api/v1/agent/lists', {}),
  })
}

export function useAddressRules() {
  return useInfiniteQuery({
    queryKey: ['/api/v1/agent/address-rules'],
    queryFn: ({ pageParam }) =>
      call('GET', '/api/v1/agent/address-rules', {
        limit: PAGE_ROWS,
        ...(pageParam === null ? {} : { cursor: pageParam }),
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
  })
}
