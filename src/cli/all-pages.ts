const PAGE = 100
/** Of each list: a trail that is longer says so, and is read from there on. */
const ENTRIES_MAX = 100_000

/** A list page by page, newest first. */
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
