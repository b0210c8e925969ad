// What a push says, normalized, and why it may not be worth processing.
const BRANCH = "refs/heads/";

export function readPush(body) {
  const { ref, commits, head_commit: head, repository } = JSON.parse(body);
  if (typeof ref !== "string" || !Array.isArray(commits) || typeof repository?.id !== "number") return null;
  return {
    repositoryId: repository.id,
    repository: repository.full_name,
    defaultBranch: repository.default_branch,
    data: {
      ref,
      branch: ref.startsWith(BRANCH) ? ref.slice(BRANCH.length) : ref,
      commits: commits.map(({ id, message, author, timestamp, url }) => ({
        id,
        message,
        author: { name: author.name, email: author.email ?? "", username: author.username },
        timestamp,
        url,
      })),
      headCommit: head && { id: head.id, message: head.message },
    },
  };
}

export function whyFiltered({ data, defaultBranch }) {
  if (data.ref !== BRANCH + defaultBranch) return `${data.ref} is not the default branch (${defaultBranch})`;
  return data.commits.length ? null : "the push contains no commits";
}
