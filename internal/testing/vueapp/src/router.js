import { createRouter, createWebHistory } from "vue-router";

import AboutPage from "./pages/AboutPage.vue";
import CategoryPage from "./pages/CategoryPage.vue";
import HomePage from "./pages/HomePage.vue";

// The item page is a chunk of its own, which the browser loads when an item is first shown.
export const router = createRouter({
  history: createWebHistory(),
  routes: [
    { path: "/", component: HomePage },
    { path: "/category/:name", component: CategoryPage, props: true },
    { path: "/item/:id", component: () => import("./pages/ItemPage.vue"), props: true },
    { path: "/about", component: AboutPage },
  ],
});
