import { QueryClient, useInfiniteQuery, useQueries, useQuery } from '@tanstack/preact-query'
import { ApiError } from './answers.js'
import { call, type Input, type Output, readReadiness } from './api.js'
import { pollMsOf } from './live/live.js'
import { DAYS } from './overview/spend-by-day.js'

/**
 * The data that pages read. Cache keys begin with the path that was read, so that a change can mark
 * what is stale.
 */

const STALE_MS = 5_000
const RETRIES_MAX = 2
const PAGE_ROWS = 25
/** Bars shown together. */
const SPENDERS_ROWS = 10
/** The largest page that one answer returns. */
const ALL_ROWS = 100

/**
 * A browser that considers itself offline may still reach a service on its own machine, and a call
 * postponed until it is online would be carried out when nobody wants it.
 */
const NETWORK_MODE = 'always'

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: STALE_MS,
      refetchInterval: pollMsOf,
      networkMode: NETWORK_MODE,
      // A refusal is an answer; only silence and overload may pass within a moment.
      retry: (count, error) =>
        count < RETRIES_MAX &&
        error instanceof ApiError &&
        (error.status === 0 || error.status >= 500),
    },
    // An answer may contain a secret that is shown once, so it is dropped with its page.
    mutations: { gcTime: 0, networkMode: NETWORK_MODE },
  },
})

/** @param isAnew refreshes on every use, because no event announces an invitation */
export function useMe(isAnew = false) {
  return useQuery({
    queryKey: ['/api/v1/agent/me'],
    queryFn: () => call('GET', '/api/v1/agent/me', {}),
    refetchOnMount: isAnew ? 'always' : true,
  })
}

/** @param isWanted few pages need the answer */
export function useAuthorizers(isWanted: boolean) {
  return useQuery({
    queryKey: ['/api/v1/agent/authorizers'],
    queryFn: () => call('GET', '/api/v1/agent/authorizers', {}),
    enabled: isWanted,
  })
}

export function useKeys() {
  return useQuery({
    queryKey: ['/api/v1/agent/keys'],
    queryFn: () => call('GET', '/api/v1/agent/keys', { limit: ALL_ROWS }),
  })
}

/** All keys, or those whose names match, a page at a time. @param search null for all */
export function useKeyPages(search: string | null) {
  return useInfiniteQuery({
    queryKey: ['/api/v1/agent/keys', 'pages', search],
    queryFn: ({ pageParam }) => call('GET', '/api/v1/agent/keys', listed(pageParam, search)),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
  })
}

/** One key, however many there are. */
export function useKey(keyId: string) {
  return useQuery({
    queryKey: ['/api/v1/agent/keys', 'one', keyId],
    queryFn: () => call('GET', '/api/v1/agent/keys', { key_id: keyId }),
  })
}

function listed(cursor: string | null, search: string | null) {
  return {
    limit: ALL_ROWS,
    ...(cursor === null ? {} : { cursor }),
    ...(search === null ? {} : { search }),
  }
}

export function useWallets() {
  return useQuery({
    queryKey: ['/api/v1/agent/wallets'],
    queryFn: () => call('GET', '/api/v1/agent/wallets', { limit: ALL_ROWS }),
  })
}

/** @param search null for all */
export function useWalletPages(search: string | null) {
  return useInfiniteQuery({
    queryKey: ['/api/v1/agent/wallets', 'pages', search],
    queryFn: ({ pageParam }) => call('GET', '/api/v1/agent/wallets', listed(pageParam, search)),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
  })
}

export type Spend = Output<'GET', '/api/v1/agent/spend'>['keys'][number]

/** Totals of all keys. */
export function useSpendTotals() {
  return useQuery({
    queryKey: ['/api/v1/agent/spend/totals'],
    queryFn: () => call('GET', '/api/v1/agent/spend/totals', {}),
  })
}

/** Totals of all keys with their days; a separate query, because its first read takes longest. */
export function useSpendByDay() {
  return useQuery({
    queryKey: ['/api/v1/agent/spend/totals', 'by day'],
    queryFn: () => call('GET', '/api/v1/agent/spend/totals', { days: DAYS }),
  })
}

/** Keys in force, those nearest to a cap first. */
export function useSpendByShare() {
  return useInfiniteQuery({
    queryKey: ['/api/v1/agent/spend', 'by share'],
    queryFn: ({ pageParam }) =>
      call('GET', '/api/v1/agent/spend', {
        ...{ limit: SPENDERS_ROWS, order: 'nearest_cap' },
        ...(pageParam === null ? {} : { cursor: pageParam }),
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
  })
}

/** Spend of the same keys as a page of them. */
export function useSpendOf(pages: readonly (string | null)[], search: string | null) {
  return useQueries({
    queries: pages.map((cursor) => ({
      queryKey: ['/api/v1/agent/spend', 'page', cursor, search],
      queryFn: () => call('GET', '/api/v1/agent/spend', listed(cursor, search)),
    })),
  })
}

export function useRefusals() {
  return useQuery({
    queryKey: ['/api/v1/agent/refusals'],
    queryFn: () => call('GET', '/api/v1/agent/refusals', {}),
  })
}

type ApprovalFilter = Pick<Input<'GET', '/api/v1/agent/approvals'>, 'status'>

export function useApprovals(filter: ApprovalFilter = {}) {
  return useInfiniteQuery({
    queryKey: ['/api/v1/agent/approvals', filter],
    queryFn: ({ pageParam }) =>
      call('GET', '/api/v1/agent/approvals', {
        ...filter,
        limit: PAGE_ROWS,
        ...(pageParam === null ? {} : { cursor: pageParam }),
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
  })
}

type TransactionFilter = Omit<Input<'GET', '/api/v1/agent/transactions'>, 'limit' | 'cursor'>

export function useTransactions(filter: TransactionFilter = {}, rows = PAGE_ROWS) {
  return useInfiniteQuery({
    queryKey: ['/api/v1/agent/transactions', filter, rows],
    queryFn: ({ pageParam }) =>
      call('GET', '/api/v1/agent/transactions', {
        ...filter,
        limit: rows,
        ...(pageParam === null ? {} : { cursor: pageParam }),
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next_cursor,
  })
}

/** With what is for those who are signed in; without it where only `/readyz` answers. */
export function useReadiness() {
  return useQuery({
    queryKey: ['/readyz'],
    async queryFn(): Promise<Readonly<Record<string, unknown>>> {
      const status = await call('GET', '/api/v1/agent/service', {}).catch(() => null)
      return status?.readiness ?? readReadiness()
    },
  })
}
