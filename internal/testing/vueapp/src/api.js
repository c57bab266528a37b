// get returns what the API answers to a GET request, or throws an error with its status.
export async function get(path) {
  const response = await fetch("/api" + path);
  if (!response.ok) throw new Error(`GET ${path}: status ${response.status}`);
  return response.json();
}
