"""What can be wrong with a query that can be read: each check looks at a resolved query and yields its problems."""
