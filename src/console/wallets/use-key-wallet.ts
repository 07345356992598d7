import { useQuery } from '@tanstack/preact-query'
import { callWithKey } from '../api.js'

/** Cache keys contain no secret, only the part of it that the service shows anyway. */
const TAG_CHARS = 12

/** The wallet whose money a key moves, whichever wallet the page shows. */
export function useKeyWallet(secret: string | null) {
  return useQuery({
    queryKey: ['key-wallet', secret?.slice(0, TAG_CHARS) ?? null],
    queryFn: () => callWithKey(secret ?? '', 'GET', '/api/wallet/address', {}),
    enabled: secret !== null,
    staleTime: 'static',
    refetchInterval: false,
    gcTime: 0,
  })
}
