import { useQuery } from '@tanstack/preact-query'
import { callWithKey } from '../api.js'

/** Keys of the cache carry no secret: by what the service shows of it anyway. */
const TAG_CHARS = 12

/** Which wallet a key moves the money of, whichever the page shows. */
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
