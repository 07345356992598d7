const PAGE = 100
/** The bound of each list; a longer trail is reported as such and continued from there. */
const ENTRIES_MAX = 100_000

/** Reads a list page by page, newest first. */
export async function allOf<Answer extends { readonly next_cursor: string | null }, Item>(
  ask: (page: { readonly limit: number; readonly cursor?: string }) => Promise<Answer>,
  itemsOf: (answer: Answer) => readonly Item[],
): Promise<Item[]> {
  const items: Item[] = []
  for (let cursor: string | null = ''; cursor !== null && items.length < ENTRIES_MAX; ) {
    const answer: Answer = await ask({ limit: PAGE, ...(cursor === '' ? {} : { cursor }) })
    items.push(...itemsOf(answer))
    cursor = answer.next_cursor
  }
  return items
}
