// Where in the course a link leads.

// The fragment's or else the query's: a lesson's name or null, and a page's number from 1.
export function placeOf({ hash, search }) {
  const [fragment, query] = [new URLSearchParams(hash.slice(1)), new URLSearchParams(search)];
  const take = (name) => fragment.get(name) ?? query.get(name);
  const page = Number(take("page"));
  return { lesson: take("lesson"), page: Number.isInteger(page) && page > 0 ? page : 1 };
}
