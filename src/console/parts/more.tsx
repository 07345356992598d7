/** The way to older rows. */
export function More(shown: {
  readonly query: {
    readonly hasNextPage: boolean
    readonly isFetchingNextPage: boolean
    readonly fetchNextPage: () => unknown
  }
}) {
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = shown.query
  if (!hasNextPage) return null
  return (
    <button
      type="button"
      class="more"
      disabled={isFetchingNextPage}
      onClick={() => void fetchNextPage()}
    >
      {isFetchingNextPage ? 'Loading…' : 'Show older'}
    </button>
  )
}
